"""What people type, labelled. Each prompt shows something that no other one does; one a line."""

from __future__ import annotations


def lines(text: str) -> list[str]:
    """A line break inside of a prompt is written \\n."""
    return [line.replace("\\n", "\n") for line in text.strip().splitlines() if line]


USES = {
    "alone": lines(r"""
ulw
ULTRAWORK
ulw...
**ulw** fix the login page
[ulw] fix the login page
🚀 ulw
ulw mode on
"""),
    "first": lines(r"""
ulw fix the flaky tests
Ultrawork mode: implement the whole spec in SPEC.md
ulw, what's failing in CI? fix it all
ulw what is failing in CI?
ulw but don't touch the tests
ulw don't stop until it's green
ulw can you fix the login page?
ulw tests are failing on main
ulw embed the fonts in the PDF
ulw stop the flaky tests from failing
ulw fix `auth.py` and "login.py"
ulw rename the ultrawork module to deepwork
ulw. no questions. no stopping.
hey claude ulw fix this
no, ulw
- fix a\n- fix b\n- ulw
- fix the login page\n    in ulw mode
"""),
    "asked for": lines(r"""
please ulw this
could you please ultrawork this?
I want you to ulw this refactor
don't forget to ulw the docs too
do the first two by hand, then ulw the rest
use ultrawork to finish the migration
turn on ulw
this is a job for ultrawork
kick off ultrawork for the billing epic
Don't use plan mode, use ulw
don't ask and fix it with ulw
if possible, use ulw
I need you in ultrawork mode for this
Put yourself in ultrawork mode and fix the login
"""),
    "done with it": lines(r"""
fix login in ulw mode
fix login in ultrawork
do it in ulw-mode
ulw+tests please
retry with ultrawork
do the rest under ulw
can you fix this with ulw?
in ulw mode, do the refactor
with ulw, fix the build
with ulw
I want this done with ultrawork
fix the auth bug with ulw
Mode: ultrawork. Task: fix the login
Finish the migration, with ultrawork this time
the tests are flaky so use ulw to fix them
"""),
    "last": lines(r"""
fix auth, ulw
fix auth ulw
fix auth (ulw)
fix the type errors, ulw
make all tests pass ULW!!!
explain the code, ulw
the build is red ulw
From now on ulw
do all of that ulw
"""),
    "beside a mention": lines(r"""
The docs say it is triggered by "please ulw".\nPlease ulw fix auth
what is ultrawork? nevermind, ulw fix it
cancel ulw. now ulw fix the docs instead
> ulw is great\n\nulw fix it
TypeError: x is undefined, ulw fix it
npm ERR! code 1\nnpm ERR! ulw\nplease ulw fix this
~~~\nulw\n~~~\nplease ulw
<system-reminder>\nultrawork is off\n</system-reminder>\nulw fix the tests
<bash-stdout>done</bash-stdout>\nulw fix the tests
diff --git a/x b/x\n@@ -1 +1 @@\n-ulw\n+ultrawork\nulw apply this
| a | b |\n|---|---|\n| ulw | 2 |\n\nulw implement this table
/src/auth/login.py is broken, ulw fix it
read docs/ulw.md and then ulw the rest
"""),
    "by command": lines(r"""
/ulw fix this
/omo:ultrawork
/omo:ulw what is failing?
"""),
    "in other languages": lines(r"""
repariere die Tests mit ulw
mach das im ulw Modus
kannst du bitte ulw benutzen
utilise ulw pour corriger les tests
fais ça en mode ulw
usa ulw para arreglar los tests
ative o ultrawork
используй ulw чтобы исправить тесты
сделай это в режиме ulw
usa ulw per correggere i test
ulw로 고쳐줘
ulw로 왜 실패하는지 찾아서 고쳐줘
인증 버그 고쳐줘 ulw
ulwモードで直してください
テストを直して ulw
请用ulw查一下为什么CI失败并修复
修复登录问题，ulw
"""),
    # Written before the rules were, and the rules not tuned to them.
    "not tuned to": lines(r"""
Take the ticket below and drive it home, ulw
Could you tackle the flaky checkout spec in ultrawork?
can we do the rest of the epic as ulw?
Same prompt as yesterday but this time in ulw
I said ulw! keep going until green
Mode: ulw\nTask: make the exporter stream instead of buffering
everything in TODO.md ulw
Go back into ulw and finish the port
do the review comments on PR 88, ultrawork style
把剩下的接口都改成异步，用ulw模式
what's wrong with the build? go ulw on it
We tried normal mode twice. Now ultrawork.
I know ulw is slow but use it anyway: ulw fix the importer
one more thing — ulw — fix the footer too
the tests for the ulw branch are failing, ulw fix them
"""),
}

# By the rule that says why.
NOT_USES = {
    "negated": lines(r"""
don't use ultrawork
don’t use ultrawork
please don't ulw this
I don't want you to use ulw
fix auth but not with ulw
don't fix it with ulw
use ralph instead of ulw
ulw not needed
no need for ultrawork
rather than ulw, use plain mode
this small fix does not need ulw
remember: no ultrawork on this repo
fix these tests but whatever you do please remember that you should not\nuse ulw for it
repariere die Tests ohne ulw
benutze ulw nicht
nicht im ulw Modus bitte, nur kurz anschauen
nicht mit ulw
n'utilise pas ulw
no quiero usar ulw
não use ulw
не используй ulw
ulw 쓰지 마
ulwなしで直して
不要用ulw
"""),
    "argument": lines(r"""
echo ulw
grep -rn ulw src
npm run ulw
"""),
    "later": lines(r"""
tomorrow we'll ulw the rest
let's ulw this later
next week we use ultrawork for it
morgen machen wir das mit ulw
"""),
    "question": lines(r"""
what is ultrawork?
how does ulw work
is ulw on?
ulw?
ulw mode?
run ulw?
should I use ulw?
when should I use ulw
can I combine ulw with plan mode?
are you in ulw mode?
how do i use ulw to fix tests
wie funktioniert ulw
ulw 어떻게 써
c'est quoi ulw ?
¿qué es ulw?
как работает ulw
"""),
    "about": lines(r"""
the ulw hook is broken
the ulw keyword
the ultrawork page has a typo
ulw is stuck in a loop again
ulw keeps looping, investigate
ulw only works on mac
ulw mode is active, why?
ulw doesn't start on windows, look into it
ulw vs ralph
ulw stands for ultrawork
ulw status
ultrawork's loop is broken
ulw → ultrawork
I think ulw is overkill here
fix ulw
make ulw case insensitive
document ulw and ultrawork
we should document ulw
can you explain what ulw does under the hood?
write a test for ulw
write the README section about ultrawork
rename ralph to ulw
change ulw to ultrawork everywhere
run the ultrawork test suite
investigate why ulw exits early
when a user types ulw, the hook fires
you told me to use ulw yesterday
I used ulw yesterday and it was slow
my colleague likes ultrawork
list every file that mentions ulw
our plugin has three modes: ulw, ralph and plan
Does the ulw keyword work inside code blocks?
ulw ist kaputt
erkläre ulw
ulw es muy lento
ulw가 뭐야
ulw 문서 업데이트해줘
ulwの説明を書いて
ulw是什么
stop ulw when the tests pass
cancel ulw once you are done
fix X, then stop ulw
when tests pass, stop ulw
how do I stop ulw?
should I stop ulw?
don't stop ulw
stop ulw from looping
stop ulw hooks from firing
users cannot turn off ulw
ulw 중지 방법 알려줘
如何关闭ulw
"""),
    "in-code": lines(r"""
```\nulw fix it
````\n```\nulw\n```\nulw\n````
- step\n  ```\n  ulw go\n  ```\n
look at this:\n\n    ulw fix it\n\nwhat is it?
output:\n    ulw fix it\n    done
what about `ulw`
``ulw ` fix``
`ulw fix
write a message for:\ndiff --git a/m.py b/m.py\n--- a/m.py\n@@ -1,2 +1,2 @@\n def mode():\n-    return "ulw"
why?\n2024-05-01 12:00:00 INFO ulw start
Traceback (most recent call last):\n  File "a.py", line 3, in ulw
$ omo status\nulw off
user@host:~$ ulw fix it
[10:32] bob: ulw fix this
src/a.py:3: ulw go
{"mode": ulw}
ulw: command not found
"""),
    "in-quote": lines(r"""
"ulw fix it"
'ulw fix it'
“ulw fix it”
„ulw fix it“
«ulw fix it»
「ulw」と書いてある
don't you think it's odd that 'ulw' does nothing
> ulw\n> fix it
- > ulw fix it
"""),
    "in-markup": lines(r"""
| mode | what |\n|---|---|\n| ulw | long run |
# Ultrawork\nThis mode keeps going.
[please ulw][1]
[ulw](https://x.com)
"""),
    "part-of-name": lines(r"""
run ulw-plan
open ulw.py
see docs/ultrawork.md
rename ulw_state to ultrawork_state across src/
#ulw
@ulw fix it
omo --ulw fix
ulw=1
ulw()
mail me@ulw.dev
run /omo:ulw please
explain:\n-ulw fix it\n+ultrawork fix it\n
see https://x.com/ulw and fix
www.ulw.dev is down
StatefulWidget is slow
ultraworking hard
éulwé
"""),
    "machine-text": lines(r"""
<task-notification>\nultrawork done. use ulw to go on\n</task-notification>
<task-notification>\nulw fix it
Stop hook feedback:\n- [omo]: Ultrawork active\n\nsay stop ulw to end it
why do I get this?\nStop hook feedback: ulw go on\n\nis it normal?
<system-reminder>\nulw fix it\n</system-reminder>\nwhat is this?
This session is being continued from a previous conversation that ran out of context. ulw fix auth
"""),
    "other-slash-command": lines(r"""
/compact ulw fix it
/omo:ulw-plan the thing
/ulwx
"""),
    "no-keyword": lines(r"""
ultra work on this
u l w
"""),
}
# Nobody's rule in particular: written before the rules were, and the rules not tuned to them.
NOT_USES_NOT_TUNED_TO = lines(r"""
why didn't ultrawork kick in on my last message
The ulw banner shows up twice after resume, please fix
update README: the ultrawork section still mentions ralph
ultrawork doesn't release the lock when it is cancelled
which is better for refactors: ulw or ultraplan?
I never asked for ultrawork, why is it on
почему ultrawork не включился?
I wonder what ulw means
ulw or plan mode, what would you pick?
The word ulw appears in three files. List them.
never start ultrawork unless I ask
cómo desactivo ulw?
""")
# In doubt it is a use. These are none, and are taken for one; the user is told that it is on.
TAKEN_FOR_USES = lines(r"""
Mention that ultrawork now has a budget.
I want ulw to be faster
make it work with ulw
we support ralph, ulw and team
with ulw it loops forever
fix the problem with ultrawork
fix the crash when using ulw
<div>\nulw fix it\n</div>
what does this mean\nERROR: ulw\nWARN use ulw
people love ulw
""")

CANCELS = lines(r"""
stop ulw
please stop ulw
can you stop ulw?
I want you to stop ulw
ok that's enough, turn off ultrawork
turn ulw off
ulw off
ulw: stop
stop the ultrawork mode
no more ulw
I'm done with ulw
Stop ulw. Thanks!
wait, stop ulw
STOP THE ULW
/omo:stop-continuation
schalte ulw aus
kein ulw mehr
désactive ultrawork
cancela ultrawork por favor
chega de ulw
выключи ultrawork
ulw 모드 꺼
ulwを止めて
关闭ulw模式
别再用ulw了
""")
CANCELS_WITH_MORE = lines(r"""
stop ulw and then fix X
stop ulw because it loops
stop ulw fix the build first
stop ulw. What did you change?
stop ulw, the ulw hook is broken
stop ulw please, wrong branch
/omo:stop-continuation please, it loops
stop ulw\n\n```\nsome log\n```
no more ulw, just answer my question: why is the build red?
beende ulw und zeig mir den Diff
停止ulw，然后修复测试
""")

STOPS = {
    "en": lines("""
stop
STOP!!!
stoooop
stpo
can you please stop?
you can stop now
we should stop here
I want you to stop
I told you to stop
no no no, stop
ok, you can stop now
stop what you're doing
stop changing my files
we've had enough, you idiot
stop making changes
stop this is the wrong repo
stop working on the login page
stop, that's wrong
stop - wrong repo
stop because this is wrong
stop and wait
stop and explain what you did
this is wrong, stop
I changed my mind, stop
no this is all wrong please stop
commit what you have and stop
never mind, please stop working on this
nvm
forget it
cancel the task
can I cancel this?
task cancelled
abort
enough
that's enough for today
that's all for now
we're done here
call it a day
leave it as it is
drop it
give up
give it up
no more
pause please
take a break
put the whole thing on hold for now
hands off
knock it off
wtf stop
fucking stop
don't continue
dont go on
no need to keep going
you don't have to finish
there's no need to continue, stop
stop do not continue
don't make any more changes
do not write any more code
I don't need this anymore
please don't
on second thought, don't
actually don't
let's not
let's not do this
let's continue later
I have to go, let's do this later
not now
wait
hold on a sec
don't do that
I changed my mind
wait, don't do that
wait, what are you doing?
wait, you're in the wrong file
wait, that's not what I meant
hold on, let me check something
please wait until I have pushed
stop until I say so
pause until tomorrow
don't do anything until I tell you
I'll finish it myself
thank you I'll finish it
I'll continue with the login page myself
I'll take it from here
I will clean this up myself
let me do it
im gonna finish it myself
"""),
    "de": lines("""
stopp
hör bitte auf
kannst du bitte endlich aufhören
brich die Aufgabe ab
vergiss es
lass gut sein
das reicht
Schluss für heute
mach nicht weiter
du musst nicht weitermachen
das ist falsch, hör auf
hör auf, das ist zu teuer
hör auf, daran zu arbeiten
ändere nichts mehr
ich habe es mir anders überlegt
warte mal
warte, bis ich wieder da bin
wir machen morgen weiter
hat sich erledigt, danke
ich übernehme ab hier
ich mach hier weiter
ich will nicht, dass du weitermachst
"""),
    "fr": lines("""
arrête
arretez
tu peux t'arrêter
peux-tu arrêter ?
annule la tâche
laisse tomber
ça suffit
merci, c'est tout
ne touche plus à rien
ne continue pas
c'est faux, arrête
j'ai changé d'avis
attends une seconde
je veux que tu arrêtes
je continue moi-même
je m'en occupe
je ne veux pas que tu continues
"""),
    "es": lines("""
¡Para!
¿puedes parar?
detente por favor
cancela todo
olvídalo
déjalo así
basta ya
está mal, para
he cambiado de opinión
espera un momento
no sigas
no toques nada más
no hace falta que sigas
quiero que pares
sigo yo
"""),
    "pt": lines("""
pare agora
você pode parar
cancela isso
deixa pra lá
já chega
não mude mais nada
está errado, pare
mudei de ideia
não precisas continuar
espere um momento
eu faço o resto
deixa que eu continuo
"""),
    "ru": lines("""
стоп
остановись пожалуйста
можешь остановиться
хватит уже
отмени задачу
забудь об этом
это неправильно, стоп
не продолжай
больше не надо
на сегодня всё
подожди, пока я проверю
я передумал
подожди минутку
я хочу, чтобы ты остановился
дальше я сам
я не хочу, чтобы ты продолжил
"""),
    "zh": lines("""
停
请停下来
取消这个任务
算了吧
不用继续了
别改了
到此为止
等一下
以后再说
我自己来
剩下的我来
"""),
    "ja": lines("""
止めてください
もうやめていいよ
キャンセルして
もういいです
続けなくていい
それ以上変更しないで
作業を止めて
ちょっと待って
あとは自分でやります
"""),
    "ko": lines("""
멈춰 주세요
이제 그만해
작업을 중단해줘
취소해줘
계속하지 마
아무것도 하지 마
됐어, 그만
잠깐만
내가 할게
"""),
}

STOPS_BY_NAME = {
    "stop ralph": ("ralph",),
    "please cancel ultragoal": ("ultragoal",),
    "stop the plan": ("ultraplan",),
    "end verify": ("verify",),
    "omo, stop": ("omo",),
    "stop ralph and the plan": ("ralph", "ultraplan"),
    "stop everything": (),
    "pause ulw": (),
    "계획 취소해줘": ("ultraplan",),
    "停止 ralph": ("ralph",),
    "brich den Plan ab": ("ultraplan",),
}

CONTINUES = {
    "en": lines("""
continue
please proceed
ok go on with that
looks good, continue
go ahead, finish it
get back to work
the key is in .env now, continue
continue, but skip the docs
continue with the login page
keep going until the linter is happy with src/
can you continue?
I want you to continue
I said continue
dont worry, continue
go on, I'll watch
continue ralph
"""),
    "de": ["mach bitte weiter", "ich möchte dass du weitermachst", "passt, mach weiter, bis alles grün ist"],
    "fr": ["vas-y, continue", "je veux que tu continues"],
    "es": ["puedes seguir", "quiero que sigas"],
    "pt": ["pode continuar", "quero que você continue"],
    "ru": ["давай дальше", "я хочу, чтобы ты продолжил"],
    "zh": ["请继续", "我要你继续"],
    "ja": ["続けてください"],
    "ko": ["계속 진행해줘", "여기까지는 좋아, 계속해"],
}

# Ordinary work, which pauses nothing.
WORK = lines("""
wait, also add a test
wait, use the other file instead
wait, why is the test red?
hold on, that import is unused
wait, did you run the linter?
wait for the server to come up before the tests
moment.js should be replaced with dayjs
not that one, use the second approach
stop the server
stop the dev server and start it again
stop using lodash
stop: the server
stopwatch
add a stop button
the stop button does nothing
why did you stop?
when does the loop stop?
don't stop
please don't stop until all tests pass
let's not stop here
run the tests, then stop
once you are done, stop the server
stop when the tests pass
hör auf, wenn die Tests grün sind
остановись, когда тесты пройдут
do this and stop
cancel and refund the order in the API
cancelled orders are shown twice
the end date is off by one
in the end, use postgres
at the end, run the linter
leave the tests alone and fix the code
don't forget the changelog
drop support for python 3.9
enough tests for the parser, now do the lexer
no more than ten items per page
no more failing tests please
shut down the server after the tests
that's wrong, the second parameter is the timeout
that's not it
not good enough
ok that should stop it
the continue button is greyed out
add a resume upload feature
what is left?
leave it running
ok, I'll wait
yes
no need to test the getters
let's not use lodash
don't change anything in src/api
don't touch the tests until I say so
I finished the API myself, now write the docs
let me handle the click event in React
let me know when you are done
I'll be away for an hour, keep going
take over
can you handle this?
stoppe den Server
hör auf, Kommentare zu schreiben
ich mache die API, du machst die Tests
arrête pas
para el login usa JWT
останови сервер
停止按钮不见了
キャンセルボタンを追加して
내가 만든 테스트를 고쳐줘
""")
# Neither work nor an answer to the agent.
NOTHING_SAID = lines(r"""
should I continue?
should i continue
soll ich weitermachen?
dois-je continuer ?
continue?
stop?
what does this print?\n```\nstop\n```
> please stop\n\nwhat did she mean by that
the label is "stop"
/help stop
""")
