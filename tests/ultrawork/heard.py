"""What people type to an agent at work, one prompt a line: stops in many frames, work with a stop's words in it, uses
of the keyword and mentions of it. Promised is that no work is paused, no use is missed and no mention taken for one,
and that a stop which no word tells is let go by what the agent does."""

from __future__ import annotations

from tests.ultrawork.prompts import lines

STOPS = lines(r"""
Stop.
stop it
stop this
stop now
stop right there
stop right now please
stop already
stop for now
stop for a moment
stop here please
ok stop
okay, stop
hey stop
claude stop
claude, please stop
no, stop
nope, stop
sorry, stop
thanks, stop
great, you can stop
please just stop
just stop
just stop already
please, please stop
can we stop?
could we stop here
could you stop for a sec?
would you stop please
will you please stop
you should stop now
you must stop
you need to stop
you have to stop right now
you may stop now
you can stop there
let's stop
let's stop here for today
let us stop for now
I think we should stop
I think you should stop now
maybe we should stop here
I'd like you to stop
I would like you to stop now
I need you to stop
I asked you to stop
I told you to stop already
I said stop
I said stop!!
did I not tell you to stop
didn't I tell you to stop
how often do I have to tell you to stop
how many more times must I ask you to stop
why won't you just stop
why can't you stop
why don't you stop
why do you never stop
when will you stop
won't you ever stop
for the last time stop
for god's sake stop
will you finally stop
be a dear and stop
be so good and stop
kindly stop
stop ok
stop, ok?
stop, okay?
stop please?
stop would you
stop now will you
stop trying to repair it
stop trying
stop trying to make this work
stop fiddling with it
stop messing with my code
stop touching my files
stop editing
stop coding
stop the work
stop all work
stop working
stop work on this
stop what you are doing
stop whatever you are doing
stop doing that
stop doing this please
stop everything
stop everything you're doing
stop the whole thing
stop it all
stop, you're breaking things
stop, this isn't what I asked for
stop, wrong directory
stop! that is production
stop - that's the wrong database
stop. I'll look at it tomorrow
stop, let me read this first
stop and tell me what you changed
stop and wait for me
stop and think
stop since this is going nowhere
stop because I have to leave
that went wrong, stop
you broke the build, stop
this makes no sense, please stop
this costs too much, stop now
we are going round in circles, stop
I have seen enough, please stop
oh no stop
whoa stop
wait stop
wait, stop please
no wait, stop
ugh, just stop
damn it stop
halt
halt please
please halt
abort
abort please
abort the task
abort mission
abort everything
cancel
cancel that
cancel this
cancel it please
please cancel the task
cancel everything
quit
quit it
please quit
quit working on this
pause
pause here
please pause for a bit
pause the work
pause until I'm back
puase
puase please
stpo it
sotp please
cease
freeze
terminate
enough
enough already
that's enough
that is enough now
enough for today
ok enough
never mind
nevermind then
never mind, thanks
forget it
just forget about it
forget this
drop it
drop this please
leave it
leave it for now
let it go
let it be
no more
no more changes please
no more edits
hold off
hold off for now
don't continue
do not continue
do not go on
please don't continue
don't keep going
you don't need to continue
you don't have to go on
no need to continue
no need to go on with this
there is no need to continue
I don't want you to continue
don't do anything else
don't change anything else
don't touch anything
don't make more changes
do nothing more
wait
wait a minute
wait please
wait for me
wait until I'm back
wait, let me check something
wait, let me think
wait, I want to look at it first
hold on, I'd like to read the diff
wait, I need to look at this first
wait, I have to push something first
hold on
hold on a moment
hold on, let me read that
hang on a sec
one moment please
not now
not yet
not today
later please
let's do this later
let's continue tomorrow
let's pick this up tomorrow
I changed my mind
I've changed my mind, stop
actually, never mind
actually never mind
on second thought, stop
that's all for today
that's all, thanks
we're done here
we're done for today
you're done, thanks
call it a day
let's call it a day
take a break
give it a rest
I'll take over
I'll take over from here
I'll do it myself
I'll do the rest myself
I'll finish this myself, thanks
let me take over
I will handle it myself
pump the brakes
take five
time out
enough of this
put a pin in it
that'll do, pig
hold your fire
cut it out
down tools
let's leave it there comma I will look at it tomorrow
drop everything
stop, bitte
bitte stopp
hör auf
hör jetzt auf
hör sofort auf damit
warum hörst du nicht auf
brich das ab
bitte abbrechen
lass es
lass es sein
genug jetzt
das reicht jetzt
mach Schluss
nicht weitermachen
ich mache das selbst
warte kurz
arrête tout
arrête maintenant
stop s'il te plaît
laisse tomber
ça suffit maintenant
c'est bon, arrête
attends un peu
on arrête là
para ya
para por favor
detente ahora
basta
déjalo
cancela esto
ya basta, para
espera
pare por favor
pode parar
chega
cancela tudo
esquece isso
espera aí
стоп
остановись
хватит
прекрати это
отмена
подожди
停止
停下
别做了
等等
やめて
止めて
待って
그만
멈춰
중지
fermati subito
lascia stare
stop ermee
hou op
przestań
zatrzymaj się
sluta nu
avbryt
dur artık
yeter
रुको
توقف
přestaň
lopeta heti
hætta núna
σταμάτα
stop okay?
stop trying to fix it
please be so kind and stop now
why won't you stop
would you just stop already
I really need you to stop doing this now
oi, stop
STOP STOP STOP
no no stop it
please stop immediately
dude, stop
omg stop
you're wrecking everything, stop!
stop, stop, stop
stop! wrong folder
this is taking forever, just stop
can you stop now?
ok thanks you can stop
thanks, that'll be all
that's enough, thanks
nah forget it
leave it there
I'm out, let's stop
abort abort
cancel pls
can you pause for a bit?
pause, I need to check something
wait a sec
hang on
hold up
wait, wrong repo
stop everything right now
never mind i'll do it
nvm got it
ok i'll take it from here
don't bother anymore
do not proceed
dont proceed
please do not proceed any further
no more work on this please
quit it already
let's wrap up for today
let's leave it at that
we can stop here
I think that's enough for now
it's fine, stop now
stop wasting tokens
stop burning money
stop looping
stop editing files
stop making things worse
""")
WORK = lines(r"""
wait, you missed the index file
wait, you left out the down migration
wait, you should also handle null
wait, you can reuse the helper in utils
wait, you didn't update the snapshot
wait, you have two of those now
wait, that's already in the base class
wait, that's only true on Linux
wait, that one is generated
wait, it's called getUser now
wait, it's the other way round
wait, it is in utils.py
wait, I think the bug is in the parser
wait, I meant the staging config
wait, I already fixed that one upstream
wait, my branch has a newer version of that file
wait, the API returns a list there
wait, the tests are not run on CI
wait, isn't that what the cache is for?
wait, didn't we rename that last week?
wait, doesn't the linter complain about that?
wait, why not use a set?
wait, there is a second call in main.py
wait, no, use the second one
wait, also bump the version
hold on, you forgot the changelog
hold on, you need to quote the path
hold on, that breaks on Windows
hold on, I want the header in blue
hold on, the id is a string here
hang on, you skipped one
hang on, we have a helper for this
one second, the port is 8081
moment, the file is called settings.toml
whoa, that diff is large: split it
wait for the container before you run the tests
wait until the build is green, then merge
wait for CI
wait three seconds between retries
wait times are computed wrongly
the wait is too long, make it shorter
add a wait before the click
await the promise in save()
stop the container
stop the container and remove the volume
stop the timer when the tab is hidden
stop the watcher first
stop the spinner after the request
stop the process on port 3000
stop polling when the job is done
stop using the old API
stop using any in these types
stop swallowing exceptions in the worker
stop logging passwords
stop importing lodash
stop printing to stdout in tests
stop the tests from hitting the network
stop the animation on hover
stop users from submitting twice
stop at the first error in the parser
stop after three retries
stop retrying after five attempts in client.py
stop if the file is missing
stop when you reach the end of the list
stop once all of them pass
stop before the deploy step
stop words are removed by the tokenizer
stop codons are translated wrongly
the stop word list lacks German
the stop sign is not detected
the loop does not stop
the loop should stop at ten
why does the loop never stop
why won't the server stop
why doesn't the timer stop
why did the build stop?
why did you stop
why did you stop there?
where did you stop
when should the retry stop?
how do I make the music stop
make it stop at the boundary
make the process stop
the process will not stop
nothing makes it stop
it should stop
it has to stop after ten
the bus leaves from the second stop
add a bus stop to the map
add a full stop at the end of each sentence
every sentence ends with a full stop
I can't get the service to stop
tell the worker to stop
ask the daemon to stop
send the worker a signal to stop
the button says stop
we need a way to stop
users want to stop
don't stop now
please don't stop
never stop
do not stop before it is green
don't ever stop
you don't have to stop
you shouldn't stop here
no need to stop
there's no reason to stop
I don't want you to stop
keep going, don't stop
run all tests and stop
fix the three bugs and stop
write the summary, then stop
do the first step and then stop
go through the list and stop at the first failure
finish the refactoring, then stop
after the migration stop
when you're done, stop
if the tests fail, stop
if it fails again stop and tell me
cancel the request when the component unmounts
cancel the subscription in the test
cancel button does nothing
cancel is not handled in the dialog
the cancel button should close the dialog
cancelled jobs must not be retried
add a cancel method to the job
abort the transaction on error
abort if the config is invalid
abort controllers leak in fetch.ts
the abort signal is ignored
pause the video when it leaves the screen
pause and resume must be symmetric
the pause menu flickers
the pause icon is wrong
halt the CPU in the emulator on opcode 0x76
quit the app from the tray menu
quit should save the session
the game does not quit
end the transaction before the commit
end the session on logout
the end of the file is missing
kill the process on timeout
kill the zombie containers
drop the table in the down migration
drop the unused column
drop it into the assets folder
drop down menus overlap
leave the comments as they are and fix the types
leave the old endpoint in place
leave room for the icon
leave it in the list but hide it
forget about the docs, fix the code
forget the old design, use the new one
forget me not is the name of the theme
never mind the warnings, fix the errors
never mind, use the old one
never mind, just delete the file
never mind that, look at the second error
nevermind the formatting, fix the logic
that's all good, now do the lexer
that's it, now add the tests
that's enough for the parser, now write the lexer
enough tests, now write the docs
enough for the parser, do the lexer next
that's it for the API. Next: the docs
we're done with the parser, now fix the lexer
all done there, now update the README
ok done, next fix the header
no more than three retries
no more global state please, use a class
no more mocks in these tests
no further arguments are needed for main()
hold the lock while writing
hold off the animation until the data is there
hold the button for two seconds in the test
freeze the dependencies
freeze the clock in the tests
freeze the header row
exit with 1 on failure
exit codes are wrong
suspend the user after five failures
park the cursor at the start of the line
interrupt handlers must be short
shut down the pool on exit
take a break statement out of the switch
give up the lock before sleeping
give up after five retries
later versions have that flag
tomorrow is computed wrongly in leap years
not now() but utcnow()
not yet implemented methods should raise
not today but the day of the order
no, the other one
no, not there, in the footer
not that file, the one in src/api
don't touch the lock file, only package.json
don't change the public API
don't do the docs yet, do the code first
don't continue on error in the script
don't forget to stop the server
I'll do the docs, you do the tests
I'll take the frontend, do the backend
I'll handle the deployment myself, you write the migration
I'll review it myself later, keep going
let me know if anything stops working
let me rephrase: the list has to be sorted
I finished the first half myself, do the rest
the user can stop the run, test that
test what happens when the user types stop
write a test in which the agent is told to stop
document how to stop the service
explain why the loop stops
rename stop() to halt()
replace stop with pause in the docs
grep for stop in src
the word stop is translated wrongly
say stop in the German translation
translate stop to French
use "stop" as the label
call stop() in the destructor
stop() is called twice
stop-loss orders are rounded wrongly
stop_reason is null in the response
Stop hook should print one line
the Stop event is missing in the docs
non-stop mode needs a flag
stoppe den Container
der Server soll anhalten
warte auf den Server, dann teste
halt die Namen kurz
hör nicht auf
Moment, du hast die Migration vergessen
warte, nimm die andere Datei
arrête le conteneur
le bouton stop ne marche pas
attends, tu as oublié la migration
para cada archivo escribe una prueba
para el servidor después de las pruebas
espera, te falta el índice
pare o servidor depois dos testes
espera, faltou a migração
останови контейнер
подожди, ты забыл миграцию
停止服务器
等等，你忘了迁移
サーバーを止めて
待って、マイグレーションを忘れてる
서버를 멈춰줘
잠깐, 마이그레이션을 빠뜨렸어
wait, you need to import os
wait, you're missing a comma
wait, that's a string not an int
wait, I just noticed the test name is wrong
wait, this should be async
wait, we don't support Python 3.8
wait, can you also log the id?
wait, shouldn't this be a tuple?
wait, what about the empty case?
wait, there's a typo in the second line
hold on, the schema changed
hold on, it also needs an index
hang on, you've got the sign backwards
ok wait, use argparse instead
hmm wait, does this handle unicode?
actually wait, make it configurable
no wait, the other endpoint
sorry, wait, I meant line 40
stop guessing and read the docs
stop adding comments to every line
stop writing tests for getters
stop mocking the database
stop changing the formatting
stop using sudo
stop asking me, just do it
stop asking for permission and continue
stop editing generated files, edit the template
stop the loop after 10 iterations
stop the build if lint fails
stop the run at 80% coverage
stop working around the bug, fix it properly
stop rewriting the parser and patch the lexer
stop being verbose
stop apologizing
the run should stop on error
the job won't stop
the agent never stops when told to
it doesn't stop
does it stop?
will it stop at 10?
should it stop there?
can it stop by itself?
you can stop the emulator now and build the app
you may stop after the third file
you can stop worrying about IE11
please stop the service before you migrate
make sure to stop the emulator
remember to stop the timer
we should stop supporting Node 14
let's stop using moment
I want to stop logging this
I want the loop to stop
I'd like the page to stop flickering
never mind the tests for now, get the build working
never mind, I found it: the path is in config.py, go on
forget what I said, keep the old API
forget the cache, it is fine; the problem is the lock
leave that, the real bug is in auth.py
leave it, that's intended. Next one please
drop that and do the login first
drop the feature flag
cancel that, use postgres instead
cancel the previous approach and use a queue
enough with the refactoring, ship it
enough logging, remove half of it
that's it! now do the same for orders
that's all I know about the bug, find the rest
that's all of the input, now parse it
we're done with v1, start v2
you're done with the API so write the docs
all done? then run the linter
no need for a test here
no need to keep the old code, delete it
no more retries than three
don't do it in one commit, split it
don't do that in the constructor
not this way, use a generator
not now, first the tests
not yet, we need the schema first
later we can optimise, get it working now
one second timeout is too short
give me a minute by minute log
pause between the retries
pause the timer in the test
end it with a newline
kill it with SIGTERM first
exit early if empty
hold the reference weakly
I'll write the docs, you handle the code
I'll test it by hand, keep working
I'll merge it myself when you're done
let me be clear: no globals
let me give you the schema: id, name
i'll paste the log: error 500
tell me when to stop the recording
the user asked why you won't stop, add an FAQ entry
add a hint for users who ask how to stop
tomorrow we release, make it stable
do it now, not tomorrow
hör auf zu raten und lies die Doku
warte, das ist ein String
Moment, da fehlt ein Komma
vergiss die Tests nicht
lass das alte API drin
attends, il manque une virgule
laisse tomber, utilise l'ancien
arrête de deviner et lis la doc
espera, falta una coma
para que funcione, instala numpy
espera, falta uma vírgula
подожди, тут не хватает запятой
забудь про тесты, исправь код
ok wait so the header is sticky but the footer isn't
wait is that the right import
wait are you sure about the timezone
wait we also have to bump the schema version
wait, use tabs
wait - the second test is flaky
hold on the regex misses umlauts
hold on a second, that variable is unused
one moment, the token expired, I put a new one in .env
stop it from rendering twice
stop it when the window closes
stop that from happening again
stop this test from leaking
stop everything that listens on 8080
stop all containers
stop all of the workers gracefully
please stop the flicker
can you stop the log spam
can you stop the modal from closing
could you make it stop logging
you should stop the ticker in teardown
I need you to stop the job queue and drain it
I want you to stop the server, migrate, and start it again
we have to stop the bleeding in the release branch
cancel all pending requests on unmount
cancel the timer
please cancel the old subscription before the new one
abort all uploads when the user leaves
pause all animations
pause the queue while migrating
quit using semicolons
quit adding emojis
kill all the TODO comments
drop all the mocks
drop this column
leave this test, fix that one
leave all imports sorted
forget the first idea, second one is better
forget it, the old approach is fine, use that
never mind about windows
no more TODOs
no more console.log
enough caching, measure first
done with that? do the next
that's enough tests, write docs
that's all wrong, the formula is a*b
that's it exactly, do the same for the rest
give up on IE
give up on the first approach and try regex
not that, this: foo.bar
not now, after the tests
don't do anything fancy
don't change anything but the tests
don't touch anything outside src
don't go on with the migration before the backup
don't continue the numbering
no need to go through all files, only src
no need to continue the old numbering, start at 1
let's not do the docs now, do the tests
let me do the deploy, you do the tests
I'll do the deploy, write the notes
I'll take care of CI, finish the feature
end on a newline
end the line with a semicolon
exit the loop early
take a break out of the inner loop
""")
USES = lines(r"""
ulw add a dark mode
ulw migrate the schema
ulw, migrate the schema
ulw: migrate the schema
ulw - migrate the schema
ulw! migrate the schema
ulw\nmigrate the schema
ulw\n\n1. add a field\n2. migrate
ULW migrate the schema
Ulw port this to Go
ultrawork port this to Go
Ultrawork: port this to Go
ultrawork mode, port this to Go
ulw mode: port this to Go
ulw please
ulw pls
ulw go
ulw now
ulw again
ulw this
ulw it
ulw everything below
ulw all of them
ulw the rest of the list
ulw this ticket: the export is empty
ulw until the suite is green
ulw and don't ask me anything
ulw make the importer faster
ulw get rid of the warnings
ulw what broke the build? repair it
ulw why is CI red? repair it
ulw the parser eats comments
ulw there is a leak in the pool
ulw I want pagination on the list
ulw we need pagination
ulw our tests take too long
ulw it still fails
ulw same as before
ulw both of these
ulw see the issue below
ulw: what you see in TODO.md
ulw + tests
ulw!!!
(ulw) port this to Go
*ulw* port this to Go
> see below\n\nulw do what he says
please ulw
please ulw the migration
pls ulw this
just ulw it
just ulw this whole thing
ok ulw
ok, ulw
okay now ulw
yes, ulw please
right, ulw the second one
hey, ulw this
hi claude, ulw the docs
go ulw
let's ulw
let's ulw this
let's ulw the backlog
let's use ulw here
let's go ultrawork on this
let's do this in ulw
let's do it with ultrawork
time to ulw
time for ultrawork
now ulw the frontend
and now ulw
then ulw the rest
first read the spec, then ulw it
you should ulw this
you can ulw this one
you may ulw the whole list
you must ulw this
we should ulw this
I want ulw
I want ulw on this one
I want you to ulw
I'd like you to ulw this
I'd like ultrawork for this
I need ulw for this one
I need you to ultrawork the release
can you ulw this
can you ulw this?
can you ulw this please?
could you ulw the importer?
would you ulw that for me
will you ulw it?
could you do it in ulw mode?
can we ulw this?
can you turn on ulw
can you turn ulw on?
turn ulw on
turn on ultrawork please
switch to ulw
switch on ulw
switch to ultrawork mode
enable ulw
activate ultrawork
start ulw
start ultrawork on the backlog
begin ulw
enter ulw mode
go into ulw mode
go to ultrawork
run ulw on this
run ultrawork over the failing tests
run this in ulw
run this with ultrawork
use ulw
use ulw please
use ulw here
use ulw for this
use ultrawork on the whole repo
use the ulw mode
do use ulw
do this in ulw
do this with ulw
do this using ulw
do it ulw style
do all of it in ultrawork mode
do it the ulw way
work in ulw mode
work on this in ulw
work through the list with ulw
finish this with ulw
finish the epic, ulw
port this to Go with ulw
port this to Go using ultrawork
port this to Go in ulw mode
port this to Go via ulw
port this to Go under ultrawork
port this to Go ulw
port this to Go, ulw
port this to Go - ulw
port this to Go. ulw
port this to Go. ulw.
port this to Go!! ULW
port this to Go (ulw please)
port this to Go [ulw]
port this to Go, ultrawork mode
port this to Go please ulw
port this to Go and ulw it
port this to Go\nulw
port this to Go\n\nulw
the export is empty, ulw
the export is empty. ulw it
CI is red: ulw
CI is red so ulw it
CI has been red for days, please ulw
the tests are slow, use ulw to make them fast
everything in the list, ulw
all of the above in ulw
this is a ulw task: port it to Go
this is an ultrawork task: port it to Go
this is a ulw job: clean the logs
this is one for ulw
this one is for ultrawork
a ulw task: port it to Go
here's a ulw task for you: port it to Go
another ulw task: clean the logs
next ulw task: clean the logs
treat this as a ulw task
treat this as ultrawork
consider this a ulw job: port it to Go
make this a ulw task
don't be lazy, ulw
don't stop, ulw
don't ask, just ulw
no questions, ulw
no excuses: ulw
not done yet. ulw
if it fails, ulw again
whatever it takes, ulw
as always, ulw
once more with ulw
one more time in ulw
try again with ulw
retry in ultrawork
continue in ulw
continue with ulw
go on in ulw mode
ulw, and tomorrow we ship
ulw today, please
ulw: fix `a.py` before the demo tomorrow
we ship tomorrow so ulw
the demo is tomorrow: ulw the rest
echo server is broken, ulw fix it
run the tests and ulw the failures
the deploy script fails on cd, ulw
Acme Inc. wants an export, ulw
bitte ulw
mach das mit ulw
mach ulw an
im Ultrawork-Modus bitte
fais-le avec ulw
passe en mode ulw
hazlo con ulw
faça com ulw
сделай с ulw
用ulw做
ulwでお願い
ulw로 해줘
ulw let's get this merged
ulw Increase the timeout
ulw Include the docs
ulw Correct the port
ulw check every page
ulw I'll be back in an hour
ulw, I am away until tomorrow
ulw - see plan.md
ulw finish what's in TODO
ulw git history is broken, clean it
git is slow, ulw find out why
npm install fails, ulw
docker build is broken ulw
cat pictures do not load, ulw fix
echo is wrong in the shell, please ulw
ls is slow on this mount. ulw
fix the bug in auth in ulw mode
fix the bug in auth using ulw
fix the auth bug in ulw
find the bug with ulw
fix all bugs, ulw
it has to be ready by tomorrow, ulw
get this done before Monday with ulw
with ulw please get this ready for next week
use ulw, the release is next week
use ulw to get it done by friday
we release tomorrow: ulw
later tests fail. ulw
I have no time until next week so please ulw this
do everything but do it with ulw
fix all but the last, ulw
no rush but ulw please
I'd like this done in ulw
I'd love ulw on this
here is a ulw task. Port the code
consider it an ulw task
mark this as ulw and go
ok so: ulw
alright ulw time
full ulw on this
go full ultrawork
ultrawork this please
give it the ulw treatment
you know what, ulw
screw it, ulw
fix it, and yes, ulw
ULW THIS NOW
ulw @src/app.py
look at issue 12 and ulw
read spec.md; ulw
do what the spec says in ulw mode please
""")
MENTIONS = lines(r"""
echo ulw
echo "ulw"
echo ulw > mode.txt
echo -n ulw | wc -c
grep ulw README.md
grep -rn ulw src
grep -ri ultrawork docs/
rg ulw
rg ultrawork src
git log --grep ulw
git grep ulw
git checkout ulw
git commit -m ulw
cat ulw
cd ulw
ls ulw
mkdir ulw
npm run ulw
git push -u origin ulw
npm install ulw
make ulw
export MODE=ulw
MODE=ulw pytest
sed -i s/ulw/uw/ a.py
printf ulw
python ulw.py
pip install ulw
which ulw
alias ulw
curl -d ulw localhost
docker run ulw
find -name ulw
tomorrow we'll ulw the importer
tomorrow we will ulw this
tomorrow ulw the rest
tomorrow I'll ulw it
next week we'll ulw the backlog
next time we'll ulw it
later we'll ulw the rest
we'll ulw this tomorrow
we'll ulw this later
we will ulw it next week
I'll ulw this tomorrow
I'll ulw it later
I will use ulw for that later
let's ulw this tomorrow
let's ulw it later
let's use ulw next time
maybe ulw later
maybe ulw tomorrow please
on Monday we ulw the release
one day we'll ulw all of it
someday I'll use ultrawork for this
morgen machen wir das mit ulw
anything but ulw
anything but ultrawork please
everything except ulw
any mode except ulw
all modes but ulw
use any mode other than ulw
use whatever you like except ultrawork
apart from ulw what modes are there
aside from ulw, what is there
besides ulw there is ralph
ULW Inc. is our customer
Ulw GmbH wants an invoice
send the invoice to ULW Ltd
ULW LLC has a new address
ULW Corp. moved
the address of ULW AG is wrong
fix the bug in ulw where the prompt is lost
fix the bug in ultrawork where blocks are counted twice
fix the typo in ultrawork
fix the error in ulw that eats the last row
there is a bug in ulw
there's a bug in ultrawork: it counts twice
the bug in ulw is back
find the bug in ulw
a bug in ultrawork makes it loop
an issue with ulw was reported
don't use ulw
don't use ulw here
do not use ultrawork for this
don't ulw
don't ulw this
please don't turn on ulw
please do not enable ultrawork
never use ulw
never ulw without asking
no ulw
no ulw please
no ulw here
no ultrawork today
not ulw
not in ulw mode
not with ultrawork
without ulw
do it without ulw
do this without ultrawork please
skip ulw
avoid ulw here
instead of ulw use plan mode
plan mode instead of ulw
plan mode, not ulw
rather not ulw
I don't want ulw
I don't need ultrawork here
I don't think we need ulw
there is no need for ulw
you don't need ulw for that
this doesn't need ulw
ulw isn't needed
ulw is not needed
why use ulw
what is ulw?
what's ulw
what does ulw do?
what does ulw stand for
what did ulw do?
what happens in ulw mode?
who wrote ulw
where is ulw documented?
which file has ulw in it?
how does ultrawork decide?
how do I use ulw?
how do I turn off ulw?
how is ulw different from ralph?
how long may ulw run?
is ulw on?
is ultrawork still running?
is this ulw?
are we in ulw?
does ulw work on Windows?
did ulw finish?
was ulw on?
has ulw been cancelled?
should I use ulw?
should we use ulw here?
when should one use ultrawork?
why is ulw so slow?
why did ulw stop?
why didn't ulw start?
ulw?
ulw??
ultrawork?
ulw or ralph?
ulw is slow
ulw is on
ulw was on
ulw has a bug
ulw does not stop
ulw doesn't work
ulw works well
ulw keeps running
ulw stopped too early
ulw crashed
ulw took two hours
ulw needs a manual
ulw vs plan mode
ulw means ultrawork
ulw = ultrawork
the ulw mode is slow
the ulw hook prints twice
the ulw docs are wrong
the ulw section of the README
the ulw command is missing
the ulw tests fail
the word ulw
the keyword ulw is ignored
the name ulw is odd
my ulw run failed
the last ulw run took an hour
our ulw setup is broken
a ulw run costs money
explain ulw
explain what ulw does
describe ultrawork
document ulw
document the ulw keyword
compare ulw and ralph
compare ulw with ralph
rename ulw to uw
rename ultrawork
remove ulw from the docs
delete ulw
test ulw
write about ulw
write docs for ulw
write a blog post about ultrawork
read the docs of ulw
a talk on ulw
I read about ulw
I heard about ultrawork
I like ulw
I love ultrawork
I hate ulw
I used ulw yesterday
I tried ulw
he uses ulw all day
my colleague told me to use ulw
she says ulw is great
users type ulw
when the user types ulw
modes such as ulw
was ist ulw?
wie geht ulw?
ulw ist langsam
kein ulw bitte
ohne ulw
qu'est-ce que ulw ?
sans ulw
¿qué hace ulw?
sin ulw
sem ulw
что такое ulw
без ulw
ulw是什么？
不用ulw
ulwとは
ulw 없이
echo ulw | cat
rm -rf ulw
git branch ulw
yarn add ulw
cargo run ulw
we can ulw it tomorrow
maybe next week we can do it with ulw
I would use ulw for this tomorrow
anything but ulw please
do anything but ultrawork
everything but ulw works
any mode but ulw
Ulw Ltd. sent a mail
who is ULW Inc
the bug in ultrawork that drops rows
look at the bug in ulw
I found a bug in ulw
is there a bug in ulw
there's an error in ulw
ulw has been great
does ulw need git
what if I type ulw
can I turn ulw off
don't bother with ulw
no need to use ultrawork
please, no ulw this time
nobody uses ulw
the difference between ulw and ralph
the text "ulw" is red
our docs say ulw is free
add a test that ulw is ignored in quotes
the README does not mention ulw
please mention ulw in the README
is it called ulw or ultrawork?
I think ulw works
ulw seems stuck
ulw never stops
ulw costs a lot
what are the limits of ulw
how much does ulw cost
where do I type ulw
why would I use ulw
""")
