"""What people type to an agent at work, labelled: stops and waits, continues, and ordinary work. One a line."""

from __future__ import annotations


def lines(text: str) -> list[str]:
    return [line for line in text.strip().splitlines() if line]


STOPS = {
    "en": lines("""
stop
Stop!
STOP
stop.
stop it
stop that
stop this
stop now
stop right now
stop please
please stop
please stop now
can you stop?
can you please stop?
could you stop?
could you please stop now
would you stop?
will you stop
you can stop
you can stop now
you can stop here
you may stop now
you should stop
you should stop now
we can stop here
we should stop here
let's stop
let's stop here
lets stop here
let's stop for today
let's stop this
I want you to stop
I'd like you to stop
I need you to stop
I think we should stop here
just stop
ok stop
okay, stop
ok, you can stop now
hey, stop
no, stop
no no no, stop
stop stop stop
stop everything
stop all of this
stop all work
stop the work
stop the task
stop this task
stop the run
stop the loop
stop the session
stop the process
stop working
stop working now
stop working on this
please stop working on this
never mind, please stop working on this
stop working on the login page
stop doing that
stop doing this
stop what you're doing
stop what you are doing
stop for now
stop for today
stop here
stop right here
stop right there
stop immediately
stop at once
stop, that's wrong
stop, you're in the wrong file
stop because this is wrong
stop and explain what you did
stop and tell me what happened
stop and wait
stop making changes
stop editing files
stop writing code
stop wasting tokens
this is wrong, stop
This is wrong. Stop.
I changed my mind, stop
I changed my mind. Please stop.
that's not what I wanted, please stop
this is going nowhere, stop
you broke it, stop
no this is all wrong please stop
commit what you have and stop
revert your changes and stop
never mind
nevermind
nvm
never mind that
never mind, thanks
oh never mind
ok never mind
actually, never mind
forget it
forget about it
just forget it
forget this
forget that
forget everything
forget the task
ok forget it
cancel
cancel it
cancel that
cancel this
cancel the task
cancel this task
cancel the run
cancel everything
please cancel
please cancel this
can you cancel this?
can you cancel that please
you can cancel it
I want to cancel
I'd like to cancel this
abort
abort!
abort it
abort the task
abort the run
abort mission
please abort
quit
quit it
please quit
quit working on this
end it
end this
end the run
end the session
end the task
please end this now
leave it
leave it there
leave it at that
leave it as it is
leave it as is
leave it be
just leave it
let it go
let it be
drop it
drop this
drop the task
just drop it
scrap it
scrap that
scrap this
abandon this
abandon the task
give up
kill it
kill the run
halt
pause
pause it
pause please
please pause
pause the work
take a break
enough
that's enough
ok that's enough
that's enough for today
that's all
that's all for now
that's it for today
that will do
we're done
we're done here
we are done for today
you're done
call it a day
let's call it a day
let's call it quits
don't continue
please don't continue
do not continue
don't go on
don't proceed
don't keep going
no need to continue
there's no need to continue, stop
don't bother
not needed anymore
no longer needed
this is no longer needed
I don't need this anymore
knock it off
cut it out
back off
hold off
stand down
leave me alone
let's continue later
let's do this later
let's do this tomorrow
we'll continue tomorrow
not now
maybe later
wait
wait!
wait a second
wait a moment
please wait
hold on
hold on a sec
hang on
hang on a minute
whoa
one moment
wait, what are you doing?
wait, that's not what I meant
hold on, let me check something
don't do that
please don't do that
don't do it
wait, don't do that
I changed my mind
we'll do this another time
I have to go, let's do this later
I said stop
I told you to stop
stop - wrong repo
stop!!! wrong repo
please stop running in circles
let me do it
I'll do it myself, stop
please wait until I have pushed
wait until I'm back
stand by
let me think about it
no more changes please
I don't want this anymore
do nothing for now
stop this nonsense
stop ralph
stop the ralph loop
cancel ralph
please stop ralph
end ralph
pause ralph
stop the plan
cancel the plan
abort the plan
pause the plan
stop ultraplan
stop ultragoal
cancel ultragoal
cancel the goals
stop the goal
end verify
stop verify
stop the verification
stop omo
cancel omo
omo, stop
can you stop ralph?
I'll finish it myself
I'll finish this myself
I'll finish the rest myself
I'll finish the task myself
I'll complete it myself
I'll continue myself
I'll carry on myself
I'll carry on from here
I'll continue with the login page myself
I can finish it myself
I want to finish it myself
I'd rather finish it myself
thank you I'll finish it
let me finish it
let me finish this myself
let me continue
I'll take it from here
I'll take over
I'll take over from here
I'll do the rest myself
ill do it myself
let me take over
let me handle this
hands off
don't make any more changes
dont make any changes
don't touch anything else
no need to keep going
there's no need to keep going
no need to finish it
you needn't continue
you don't have to finish
you don't need to continue
you do not have to go on
please do not finish it
let's not
let's not do this
let's not continue this
lets not continue with this
put it on hold
put this on hold for now
park it
park this for now
postpone this
suspend
suspend the task
exit
interrupt
feel free to stop here
stop retrying
stop processing
stop executing
please stop deleting my files
thats enough
ok thats enough
thats it
dont go on
youre done
task cancelled
cancelled
oh god stop
wtf stop
omg stop
stop ffs
for heaven's sake stop
please don't
no don't
on second thought, don't
okay I've seen enough
wait, you're in the wrong file
hold on, this is the wrong branch
wait, what?
I'll take care of it
let me do the rest
I'll proceed on my own
stop do not continue
you don't need to do anything
don't do any more
wait, that's the production database
hold on, I need to think
wait, you broke it
can I cancel this?
I'm cancelling the task
im gonna finish it myself
I'll sort it out myself
do not make any further changes
"""),
    "de": lines("""
stopp
Stopp!
stopp bitte
stoppe
halt
halt bitte an
hör auf
hör bitte auf
hör jetzt auf
hör damit auf
bitte hör auf
bitte aufhören
aufhören
kannst du aufhören?
kannst du bitte aufhören
du kannst aufhören
du kannst jetzt aufhören
lass uns aufhören
lass uns hier aufhören
abbrechen
bitte abbrechen
brich ab
brich das ab
brich die Aufgabe ab
brich es bitte ab
Abbruch
beende das
beende die Aufgabe
bitte beenden
vergiss es
vergiss das
lass es
lass das
lass gut sein
lass es gut sein
lass mal
das reicht
es reicht
genug
genug für heute
Schluss
Schluss jetzt
Schluss für heute
Pause
mach mal Pause
mach nicht weiter
nicht weitermachen
das ist falsch, hör auf
ich habe es mir anders überlegt
das war's
nicht mehr nötig
warte
warte mal
warte bitte
Moment
Moment mal
einen Moment bitte
mach das nicht
nicht jetzt
schon gut
wir machen morgen weiter
kannst du damit aufhören
lass es bitte sein
stopp ralph
stoppe den Plan
brich den Plan ab
hat sich erledigt
hat sich erledigt, danke
du musst nicht weitermachen
brauchst nicht weiterzumachen
nicht mehr weitermachen
mach Schluss
wir hören hier auf
ich übernehme ab hier
ich mach hier weiter
ich mache weiter
ich mache selbst weiter
ich mache das fertig
ich mache es selbst
ich mach den Rest selbst
lass mich weitermachen
ich will nicht, dass du weitermachst
hier mache ich weiter
das mache ich selbst
mach bitte nicht weiter
ich mache ab hier weiter
du brauchst nicht weiterzuarbeiten
"""),
    "fr": lines("""
arrête
arrête !
arrêtez
arrête ça
arrête maintenant
arrête s'il te plaît
arrête tout
tu peux arrêter
tu peux t'arrêter
tu peux arrêter maintenant
peux-tu arrêter ?
on arrête
on s'arrête là
arrêtons là
annule
annule ça
annule tout
annule la tâche
annulez
laisse tomber
laissez tomber
oublie
oublie ça
abandonne
ça suffit
c'est fini
stop
stoppe
ne continue pas
ne continuez pas
pas la peine
fais une pause
c'est faux, arrête
j'ai changé d'avis
j'ai changé d'avis, arrête
attends
attendez
attends une seconde
ne fais pas ça
pas maintenant
plus tard
tant pis
arrête ralph
annule le plan
je veux que tu arrêtes
mets ça en pause
termine là
finissons-en là
je vais continuer
je continue moi-même
je termine moi-même
je m'en occupe
laisse-moi continuer
je ne veux pas que tu continues
laisse-moi faire
tu n'as pas besoin de continuer
je prends le relais
"""),
    "es": lines("""
para
¡Para!
para ya
para por favor
pare
puedes parar
puedes parar ya
¿puedes parar?
detente
detente por favor
detén todo
alto
basta
basta ya
ya basta
cancela
cancela eso
cancela la tarea
cancela todo
cancélalo
cancelar
olvídalo
olvida eso
déjalo
déjalo así
déjalo ya
deja eso
aborta
anula
no sigas
no continúes
no hace falta
es suficiente
está mal, para
he cambiado de opinión
cambié de opinión, para
espera
espera un momento
un momento
no hagas eso
ahora no
más tarde
haz una pausa
para ralph
cancela el plan
quiero que pares
ponlo en pausa
no sigas más
no hace falta que sigas
termina aquí
yo continúo
sigo yo
yo lo termino
lo hago yo
déjame continuar
no quiero que sigas
"""),
    "pt": lines("""
pare
pare!
pare agora
pare por favor
pode parar
você pode parar
pode parar agora
parar
cancela
cancele
cancela isso
cancele a tarefa
cancela tudo
esquece
esquece isso
esqueça
deixa pra lá
deixa isso
chega
já chega
basta
encerra
encerre
aborta
não continue
não precisa mais
mudei de ideia
mudei de ideia, pare
está errado, pare
espera
espere um momento
um momento
não faça isso
agora não
mais tarde
pare o ralph
cancela o plano
faz uma pausa
paramos por aqui
termina aqui
eu continuo
eu termino
eu faço o resto
deixa que eu continuo
não quero que você continue
não precisas continuar
deixa comigo
"""),
    "ru": lines("""
стоп
Стоп!
стой
стой, не надо
остановись
остановись пожалуйста
пожалуйста, остановись
останови это
можешь остановиться
прекрати
прекрати это
прекратите
хватит
хватит уже
довольно
достаточно
отмена
отмени
отмени это
отмени задачу
отбой
перестань
брось это
забудь
забудь об этом, стоп
оставь
оставь это
прерви
пауза
не продолжай
больше не надо
на этом всё, стоп
это неправильно, стоп
я передумал
я передумал, остановись
подожди
подожди минутку
погоди
не делай этого
не надо
не сейчас
потом
стоп ralph
отмени план
забудь об этом
сделай паузу
поставь на паузу
на этом всё
на этом закончим
закончи
закончи на этом
я хочу, чтобы ты остановился
я продолжу сам
я закончу сам
дальше я сам
я сам доделаю
можешь больше не продолжать
я не хочу, чтобы ты продолжил
давай я продолжу
я возьму это на себя
"""),
    "zh": lines("""
停
停止
停下
停下来
停一下
请停止
请停下来
先停一下
停手
住手
取消
取消吧
取消任务
取消这个任务
请取消
中止
终止
中断
暂停
暂停一下
结束吧
放弃吧
算了
算了吧
不用了
不用做了
不用继续了
不要继续了
别继续了
别做了
不做了
够了
到此为止
先到这里吧
可以停了
你可以停了
等等
等一下
稍等
别动
不要这样做
以后再说
停止 ralph
取消计划
别改了
不要再改了
停止修改
我来继续
我自己继续
让我继续
剩下的我自己来
我自己来
明天再继续
我继续
我自己做
不用再继续了
"""),
    "ja": lines("""
止めて
止めてください
止まって
やめて
やめてください
もうやめて
もうやめていいよ
ストップ
ストップしてください
中止
中止して
中断してください
停止
停止してください
キャンセル
キャンセルして
キャンセルしてください
終了してください
終わりにして
もういい
もういいです
忘れて
忘れてください
取り消して
続けないで
続けなくていい
一旦止めて
ここで止めて
作業を止めて
待って
待ってください
ちょっと待って
後で
ralphを止めて
計画を中止して
ここまで
今日はここまで
何もしないで
少し待って
自分で続けます
私が続けます
あとは自分でやります
続きは明日
"""),
    "ko": lines("""
멈춰
멈춰줘
멈춰 주세요
이제 멈춰
그만
그만해
그만해줘
그만해 주세요
이제 그만
이제 그만해
그만하자
그만둬
그만 둬
중지
중지해
중지해줘
중단
중단해
중단해줘
작업을 중단해줘
취소
취소해
취소해줘
취소해 주세요
작업 취소해줘
정지
스톱
하지 마
계속하지 마
됐어
됐어, 그만
필요 없어
여기까지 하자 그만
잠깐
잠깐만
잠시만요
기다려
기다려줘
나중에 하자
ralph 멈춰
계획 취소해줘
여기까지
오늘은 여기까지
여기까지 하자
아니야 그만해
틀렸어 멈춰
내가 계속할게
내가 할게
나머지는 내가 할게
내일 계속하자
내가 이어서 할게
"""),
}

CONTINUES = {
    "en": lines("""
continue
Continue.
please continue
ok continue
ok, continue please
continue with the work
continue working
continue with that
continue where you left off
you can continue
you can continue now
you may proceed
let's continue
looks good, continue
sounds good, go ahead
yes, go on
go on
ok go on with that
go ahead
go ahead, finish it
go ahead and finish it
keep going
keep going please
carry on
proceed
please proceed
resume
resume the work
resume work please
finish it
finish the job
get back to work
back to work
the key is in .env now, continue
I fixed the key, please continue
continue, but skip the docs
continue with the login page
can you continue?
go for it
move on
continue ralph
resume the plan
I want you to continue
I'd like you to finish it
I said continue
I think we should continue
I told you to go on
let us continue
sounds good to me go ahead
finish it for me
continue as I said
dont worry, continue
I like it continue
I approved it, continue
you can finish it yourself
go on, I'll watch
lets do it
"""),
    "de": lines("""
weiter
mach weiter
mach bitte weiter
bitte weitermachen
du kannst weitermachen
mach einfach weiter
weiter geht's
fahr fort
passt, mach weiter
ich möchte dass du weitermachst
du kannst das fertig machen, mach weiter
mach selbst weiter
"""),
    "fr": lines("""
continue
tu peux continuer
continue s'il te plaît
vas-y
vas-y, continue
poursuis
reprends le travail
je veux que tu continues
"""),
    "es": lines("""
continúa
sigue
puedes seguir
puedes continuar
sigue adelante
adelante
vale, sigue
quiero que sigas
"""),
    "pt": lines("""
continua
pode continuar
prossiga
vai em frente
quero que você continue
"""),
    "ru": lines("""
продолжай
продолжай пожалуйста
давай дальше
можешь продолжать
я хочу, чтобы ты продолжил
продолжай сам
"""),
    "zh": lines("""
继续
请继续
继续吧
可以继续了
我要你继续
我们继续吧
给我继续
你自己继续
"""),
    "ja": lines("""
続けて
続けてください
再開して
そのまま続けて
自分で続けて
"""),
    "ko": lines("""
계속해
계속해줘
계속 진행해줘
이어서 해줘
여기까지는 좋아, 계속해
"""),
}

WORK = lines("""
wait, also add a test
wait, also the tests
wait, use the other file instead
hold on, also update the docs
moment.js should be replaced with dayjs
whoa nice, now do the same for the other module
not that one, use the second approach
don't do that, use a set instead
stop the server
stop the dev server and start it again
stop the container
stop the animation when the tab is hidden
stop the timer in the cleanup function
stop the spinner from flickering
stop words are missing in the index
stop using lodash
stop logging passwords
stop retrying after three attempts
the stop button does nothing
add a stop button
make the stop hook faster
rename stop() to halt()
stop button should be red
stopping the watcher leaks a handle
why did you stop?
why does it stop after one item?
when does the loop stop?
don't stop
please don't stop until all tests pass
never stop retrying
do not stop before the linter is clean
run the tests, then stop
fix the tests and then stop
stop when the tests pass
stop after the first failure
cancel button should be blue
cancel the request when the component unmounts
cancel the subscription in ngOnDestroy
cancel and refund the order in the API
cancelled orders are shown twice
implement cancel for uploads
abort the request when the user leaves
abort signals are ignored by the client
use AbortController
quit with exit code 3 on bad input
the quit menu entry is missing
end the line with a semicolon
end users cannot log in
end-to-end tests are flaky
the end date is off by one
in the end, use postgres
at the end, run the linter
leave the tests alone and fix the code
leave a comment in the config
leave that file alone
leave space between the columns
forget the cache and read from disk
forget about IE11 support
don't forget the changelog
don't forget to add a test
the "forgot password" link is broken
drop the users table
drop support for python 3.9
kill the zombie processes in the worker
kill the flaky test
pause the video when the modal opens
the pause icon is missing
freeze the dependencies
halt the pump when the level is low
terminate the worker thread cleanly
enough tests for the parser, now do the lexer
no more than ten items per page
that's wrong, the second parameter is the timeout
that is not what the spec says
wait for the server to come up before the tests
wait 5 seconds between retries
the wait is too long
hold the lock while writing
add a give up threshold to the retry loop
break off the loop early
continue statement is missing in the loop
the continue button is greyed out
add a resume upload feature
the resume parser crashes on PDF files
finish the migration of the orders table
proceed to checkout is broken
what is left?
how far are you?
what did you change?
is this done?
yes
no
thanks
ok
use the second approach
fix the failing test in auth
add a test for the empty list
please also handle null
make it faster
the login page shows an error
that should stop it from crashing
ok that should stop it
this will stop working on windows
der Server soll nach dem Test stoppen
stoppe den Server
füge einen Abbrechen-Knopf hinzu
warte auf die Antwort des Servers
bouton annuler manquant
ajoute un bouton arrêter
añade un botón de cancelar
para el login usa JWT
adicione um botão de parar
останови сервер
добавь кнопку отмены
停止按钮不见了
添加取消按钮
キャンセルボタンを追加して
停止ボタンが動かない
취소 버튼을 추가해줘
정지 버튼이 안 보여
fix the log parser, this line is wrong: "stop"
wait, the name should be camelCase
wait, why is the test red?
wait, did you run the linter?
hold on, that import is unused
hang on, the linter complains about line 3
once you are done, stop the server
I don't think so
I do
don't handle errors in the parser
the request was cancelled
let's not use lodash
no need to test the getters
don't touch the migrations
exit early if the list is empty
interrupt handling is broken on Windows
suspend the coroutine while waiting
park the car model in its own module
I'll be away for an hour, keep going
let me know when you are done
do this and stop
let's not stop here
I don't want you to stop
arrête pas
take over
can you handle this?
that's not it
not good enough
wait, is the cache warm?
warte, warum ist der Test rot?
don't change anything in src/api
I finished the API, now write the docs
once it's green, stop the container
ich mache die API, du machst die Tests
내가 만든 테스트를 고쳐줘
wait, is that thread safe?
hold on, the spec says otherwise
let me handle the click event in React
I want to handle this error in the caller
don't do anything on empty input
""")

# The user asks, and neither stops nor continues anything.
QUESTIONS = lines("""
should I continue?
should i continue
can I continue?
shall I go on?
should I continue with the docs?
soll ich weitermachen?
dois-je continuer ?
могу я продолжить?
""")
