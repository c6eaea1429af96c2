"""The words that tell a use of the keyword from talk about it, by language; places.py reads them."""

from __future__ import annotations

from omo.hooks.wordlists import phrases, words

# What makes the keyword no use: a negation, and what may stand between the two.
NEGATIONS = words("""not don't dont doesn't isn't shouldn't needn't won't can't cannot no never nothing without avoid
    skip instead rather nor except besides nicht kein keine keinen ohne nie sans pas jamais sin nunca não sem non senza
    не без bez zonder geen niet""")
EXCEPTIONS = phrases("anything but|everything but|all but|mode but|modes but")
INSTRUMENTS = words("with using via in under through mit con com avec с через")
NEGATED_WITH_IT = INSTRUMENTS | words("""think mention use used run running start enable activate turn on go going do
    doing want need needed ask asked the any a an into to it this that me you we be of for than by mode switch trigger
    enter try work uses usar quiero utilise utilises benutze benutzen verwende nutze im den das используй хочу нравится
    em en modo""")
# What a question about it begins with, and what makes a question a request.
QUESTIONS = words("""what what's whats why how who where which is are was were does did has should shall isn't doesn't
    didn't aren't wie warum wieso wann comment pourquoi quoi qu'est qué cómo como cuándo что как почему когда зачем cosa
    perché come wat waarom hoe""")
REQUESTS = phrases("""can you|could you|would you|will you|can u|can we|could we|please|pls|kannst du|könntest du|
    peux tu|pouvez vous|puedes|podrías|pode|poderia|можешь|puoi|kun je""")
# What follows it in talk about it: "ulw is stuck", "ulw keeps looping".
STATES = words("""is isn't isnt was wasn't are were has hasn't had does doesn't doesnt did didn't will would won't can
    can't could couldn't should shouldn't might may must seems seem feels looks keeps kept works worked fails failed
    stops stopped loops hangs crashes crashed broke breaks runs ran took takes went goes got gets gave gives made makes
    says means sucks costs needs eats ate ignores ignored burns used uses wants deletes deleted rewrites stands exits
    ended finished activated vs versus or still stuck never always sounds than equals looping hanging ist war hat läuft
    funktioniert macht hängt bleibt kann est était fonctionne marche es era está sigue funciona é foi faz это работает
    завис зависло""")
MENDS = words("fix mend repair")  # behind such talk it is the work: "ulw makes no sense, fix the docs"
# And what makes it part of a name: "the ulw hook". The first also where the sentence begins with it.
ITS_OWN = words("""hook hooks keyword keywords command commands plugin skill skills feature support detection trigger
    banner status config settings documentation integration implementation""")
KINDS = ITS_OWN | words("""word words docs doc doku section test tests suite parser logic module code state file files
    branch loop loops run runs session sessions usage user users version prompt prompts message messages bug bugs issue
    thing stuff server function flag option button name cooldown activation""")
DETERMINERS = words("""the a an my your our their its every each any some another last der die das ein eine le la el un
    une""")
# Right before it these make it what is spoken of; behind the next they do not: "turn on ulw", "time for ulw".
TOPICS = words("""about of for on from between than like over regarding vs versus at how why what whether if when where
    which because called named type types typed typing write writes wrote say says word keyword term label used tried
    saw über zu de sobre sur про об di""")
TURNS_TO = words("turn switch put go use time job one ready now")
# Verbs that have it as their object and do not use it: "fix ulw", "remove ulw".
HANDLES = words("""fix debug remove delete document love like hate implement test review change make add put improve
    discuss mention support ignore detect grep know prefer drop ban allow show write rewrite refactor see read check
    uses likes loves hates shows supports detects mentions contains documenta""")
FAULTS = words("bug bugs typo error crash leak flaw")
# With an article before it, what is asked for is called one: "this is a ulw task: port it".
CALLS_IT_ONE = phrases("task|job|task for you|job for you")
# What a line of a shell begins with that has it as an argument, some with a command of theirs between.
PROGRAMS = words("echo printf cat cd ls mkdir touch rm grep rg alias which curl wget find")
PROGRAMS_WITH_COMMANDS = words("git npm pnpm yarn npx pip uv docker cargo brew apt")
# A plan begins or ends with one of these; behind the next it says when something is due.
TIMES = phrases("""tomorrow|later|someday|one day|next time|next week|next month|monday|tuesday|wednesday|thursday|
    friday|morgen|später|demain|plus tard|mañana|más tarde|amanhã|завтра|потом""")
DUE = words("by before until till for from of is than bis für avant pour antes para")
# Anywhere before it in the clause, or in the sentence: what is said is about names and words.
NAMING = words("""rename replace compare compared call calls alternatives difference told heard suggests recommends
    understand learn translate explain describe define erkläre explique explica explicar объясни опиши""")
LISTING = words("types typed typing modes keywords commands plugins such including either")
