"""The words and phrases by which a stop, a wait and a continue are heard, by language; stop_words.py reads them.

Accents are folded away here and when a prompt is read, so "arrete" is heard as well as "arrête".
"""

from __future__ import annotations

from omo import table

ACCENTED, PLAIN = "áàâãäåéèêëíìîïóòôõöúùûüçñё", "aaaaaaeeeeiiiiooooouuuucnе"


def unaccented(text: str) -> str:
    if not text.isascii():
        for accented, plain in zip(ACCENTED, PLAIN, strict=True):  # ten times as fast as str.translate
            text = text.replace(accented, plain)
    return text


def words(text: str) -> frozenset[str]:
    return frozenset(unaccented(text).split())


def phrases(text: str) -> frozenset[str]:
    return frozenset([phrase.strip() for phrase in unaccented(text).split("|")])


# An end of the work as it is now. Said first or last it counts, whatever else the prompt says. Idioms and further
# languages are not listed: the rule `quote-message` of stop.py lets go of what the agent understands.
STOP = {
    "en": """stop|stpo|sotp|puase|stopping|halt|cease|quit|abort|cancel|pause|freeze|terminate|end|kill|drop|scrap|
        abandon|finish here|no need anymore|not needed anymore|no longer needed|no longer need|don't go any further|
        go no further|no further|no more|don't work on|do nothing|give up|back off|knock it off|cut it|leave me alone|
        call it a day|call off|call it|wrap up|shut up|take a break|hold off|leave things as they are|leave alone|
        full stop|shut down|hands off|put on hold|suspend|exit|interrupt|i'm cancelling|don't need anymore|
        don't want anymore|no longer want|stop changes|stop files|stop code|stop commands|stop tokens|stop circles|
        no more changes|no more edits|no more code|stop loop|cancel loop|end loop|exit loop|kill loop|abort loop""",
    "de": """stopp|stoppe|halt|halte an|anhalten|aufhören|aufzuhören|hör auf|höre auf|abbrechen|abbruch|brich ab|beende|
        beenden|schluss|feierabend|nicht mehr nötig|pause|pausiere|mach pause|unterbrich|gib auf|mach schluss|
        lass die finger davon|finger weg|ändere nichts|mach nichts|fass nichts mehr an""",
    "fr": """arrête|arrêtez|arrêter|arrêtes|stoppe|annule|annulez|annuler|abandonne|cesse|interromps|suspends|
        fais une pause|mets en pause|on s'arrête|t'arrêter|plus besoin|ne fais plus rien|ne fais rien|n'y touche plus|
        ne touche à rien|ne touche plus à rien|ne change plus rien""",
    "es": """para|pare|parar|párate|pares|detente|detén|deténgase|alto|basta|cancela|cancelar|cancélalo|aborta|anula|
        suspende|interrumpe|pausa|haz una pausa|no sigas|no siga|no continúes|no hace falta|abandona|no hagas nada|
        no toques nada|no cambies nada|no hagas más|termina aquí""",
    "pt": """pare|para|parar|cancela|cancele|cancelar|aborta|aborte|encerra|encerre|interrompe|suspende|pausa|desista|
        chega|basta|nao continue|não precisa|não faça mais nada|não faça nada|não mude mais nada|faz uma pausa|
        termina aqui|não mexe mais""",
    "ru": """стоп|стой|стойте|остановись|остановитесь|останови|остановить|остановиться|хватит|прекрати|прекратите|
        прекращай|перестань|отмена|отмени|отменить|отбой|брось|бросай|завершай|заканчивай|закончи|прерви|пауза|на паузу|
        приостанови|не надо продолжать|не нужно продолжать|больше не надо|больше не нужно|ничего не делай|сделай паузу|
        ты остановился|ты остановилась|ничего не трогай|ничего не меняй""",
}
# An end of a mode: a stop where the clause names ulw or omo.
OFF = """off|turn off|turning off|switch off|shut off|disable|deactivate|stop using|get out of|come out of|enough of|
    i'm done with|we're done with|kein mehr|aus|ausschalten|abschalten|deaktiviere|deaktivieren|schalte aus|schalt aus|
    désactive|désactivez|plus de|desactiva|desativa|desative|apaga|desliga|desligue|no más|chega de|отключи|выключи"""
# A halt for the moment, or an end in words that also lead over to something else. Followed by work ("wait, also add a
# test", "never mind, use the old one") it is a way of speaking.
WAIT = {
    "en": """wait|hold|hold on|hang on|hold it|hold up|whoa|woah|one moment|one sec|one second|one minute|just a sec|
        just a second|just a minute|give me a moment|give me a minute|give me a second|give me a sec|not so fast|
        not that|not that one|not this|not this one|don't do that|don't do this|don't do it|not yet|not now|not today|
        later|another time|scratch that|cancel that|changed my mind|tomorrow|stand by|standby|brb|let me think|
        never mind|nevermind|nvm|don't bother|forget|leave|let it go|let it be|enough|seen enough|that's all|
        that will be all|that'll be all|that's it|that'll do|we're done|you're done|all done|done for today|
        done for now|that's everything|that was all""",
    "de": """warte|warte auf mich|warten|moment|sekunde|langsam|nicht das|nicht so|mach das nicht|nicht machen|
        das nicht|nicht jetzt|jetzt nicht|noch nicht|später|morgen|egal|schon gut|doch nicht|vergiss|lass es|lass das|
        lass sein|lass mal|genug|reicht|das war's|hat sich erledigt|habe es mir anders überlegt|
        hab's mir anders überlegt|machen morgen weiter|mach morgen weiter|machen später weiter|übernehme|mache ich|
        mach ich""",
    "fr": """attends|attendez|un instant|une seconde|une minute|deux secondes|deux minutes|doucement|pas ça|
        ne fais pas ca|pas maintenant|pas encore|plus tard|demain|changé d'avis|j'ai changé d'avis|tant pis|peu importe|
        laisse|laissez|laisse tomber|laissez tomber|oublie|ca suffit|suffit|assez|c'est fini|c'est tout|pas la peine|
        m'en occupe|m'en charge|prends le relais""",
    "es": """espera|espere|un segundo|un minuto|momento|no hagas eso|no lo hagas|eso no|así no|ahora no|todavía no|
        más tarde|luego|mañana|cambié de opinión|he cambiado de opinión|da igual|no importa|seguimos mañana|olvídalo|
        olvida|déjalo|dejarlo|deja|eso es todo|suficiente|no te molestes|hago|termino|continúo|sigo|me encargo""",
    "pt": """espera|espere|calma|um segundo|um minuto|não faça isso|não faz isso|isso não|agora não|ainda não|
        mais tarde|depois|amanhã|mudei de ideia|tanto faz|não importa|continuamos amanhã|esquece|esqueça|deixa|deixe|
        suficiente|é só isso|faço|termino|continuo|assumo|deixa comigo""",
    "ru": """подожди|подождите|погоди|постой|секунду|минуту|минутку|не делай этого|не делай так|не надо|не нужно|не это|
        не так|не сейчас|потом|позже|завтра|не сегодня|передумал|передумала|неважно|довольно|достаточно|оставь|забудь|
        забей|на этом всё|на сегодня всё|продолжу|закончу|доделаю|сделаю|займусь|возьму на себя""",
}
GO = {
    "en": """continue|go on|resume|keep going|carry on|proceed|go ahead|keep on|keep at it|keep it up|keep working|
        move on|get going|get on with it|get back to work|back to work|get back to it|pick up where you left off|
        continue where you left off|continue from where you left off|finish what you started|finish|complete it|
        complete this|complete the task|complete the work|do it|let's go|go for it|go go go|ok go|start again|unpause|
        as you were|approved|i approve|i approved|i've approved|i have approved""",
    "de": """weiter|mach weiter|macht weiter|machen weiter|weitermachen|weiterarbeiten|weiterzumachen|arbeite weiter|
        fahr fort|fahre fort|fortfahren|fortsetzen|setz fort|setze fort|mach es fertig|mach das fertig|mach fertig|
        leg los|los|los geht's|auf geht's|nur zu|weiter geht's|geht weiter|nicht aufhören|hör nicht auf|weitermachst|
        weiterarbeitest|mache weiter|mache fertig|mache es fertig|mache das fertig|weiterzuarbeiten|weitergehen""",
    "fr": """continue|continuez|continuer|continuons|vas y|allez y|allons y|poursuis|poursuivez|poursuivre|poursuivons|
        reprends|reprenez|reprendre|reprenons|on y va|c'est parti|finis|termine ça|termine le travail|n'arrête pas|
        ne t'arrête pas|avance|avancez|continues""",
    "es": """continúa|continúe|continuar|continuemos|sigue|siga|sigan|seguir|sigamos|adelante|prosigue|proseguir|
        reanuda|reanudar|dale|vamos|hazlo|termínalo|acábalo|termina el trabajo|termina la tarea|no pares|no te detengas|
        sigas|continúes""",
    "pt": """continua|continue|continuar|continuemos|prossiga|prosseguir|segue|siga|seguir|vai em frente|vá em frente|
        siga em frente|pode ir|retome|retomar|retoma|manda ver|vamos em frente|não pare|termina isso|termine isso|
        termine o trabalho""",
    "ru": """продолжай|продолжайте|продолжить|продолжаем|продолжи|продолжим|продолжать|дальше|поехали|вперёд|доделай|
        доделывай|заканчивай это|делай|работай дальше|не останавливайся|не останавливайтесь|возобнови|возобновляй|
        продолжил|продолжила""",
}
# A stop with a "not" or an "I" before it, as GO is: "don't do anything", "I'll handle this". Alone it is work.
OWN_WORK = """take it|take this|take over|take care of|handle|do this|do that|do the rest|do everything|do anything|
    do anymore|do more|touch anything|change anything|edit anything|make changes|make edits|run commands|run anything|
    commit anything|sort out|write code|edit files|change files|change code|touch files|waste tokens|spend tokens|
    wrap this up|mach es|mach das|mach den rest|mache es|mache das|mache den rest|mache alles|termine|terminer|finir|
    fais|faire|faire le reste"""
SAYS_NOTHING = """in the end|at the end|by hand|manually|on my own|i'll wait|ich warte|leave running|come back|get back|
    pick up|for the day|feel free|ab hier|go ahead and|no problem|no worries|of course|sounds good|why won't you|
    why can't you|why don't you|won't you|can't you|didn't i|do i|how often|how many times|how many more times|
    tell you to|ask you to|telling you to|asking you to|looks good|looks great|looks fine|looks right|all good|
    makes sense|lgtm|lass uns|lasst uns|lassen sie uns"""
# "I'll finish it myself", "let me continue": the user takes over. "I want you to continue" speaks to the agent.
FIRST_PERSON = """i|i'll|i'd|i've|i'm gonna|i'm going to|let me|lemme|ich|lass mich|lasst mich|je|laisse moi|
    laissez moi|yo|déjame|voy|puedo|eu|vou|posso|deixa eu|deixe me|я|мне|дай мне"""
# Or a remark ends here, and what follows is said to the agent: "I said continue".
SECOND_PERSON = """want to|would like to|like to|quiero|quero|you|u|we|us|let's|said|say|mean|think|guess|believe|
    suppose|told|like it|like this|like that|du|ihr|wir|uns|tu|vous|on|nous|que|usted|você|ты|вы|мы|давай"""
MYSELF = "myself|moi même|yo mismo|yo misma|eu mesmo|eu mesma|я сам|я сама"
# Before a "go" these make it a stop, "no need to continue"; before a stop they make it none, "don't stop".
NOT = "not|don't|needn't|no need|nicht|kein|pas|plus|no quiero|no necesitas|no tienes que|não|не"
# Tells what something does: "that should stop it".
STATEMENT = """that should|this should|it should|that would|this would|it would|this will|it will|should it|can it|
    could it|will it|would it"""
MARKS = {
    "statement": STATEMENT,
    "not": NOT,
    "first person": FIRST_PERSON,
    "second person": SECOND_PERSON,
    "myself": MYSELF,
    "filler": SAYS_NOTHING,
}
# Courtesy, framing, and what one stops when one stops the agent: never a thing of the project.
SMALL_BY_LANGUAGE = {
    "en": """please pls plz kindly just now ok okay k so well hey hi hello oh um hmm ah alright right yes yeah yep yup
        nope nah sure thanks thank thx ty cool fine great good perfect nice sorry actually really honestly simply
        immediately instantly already claude agent assistant bot man dude guys buddy mate bro can could would will
        should shall may might must you u ya we i i'd i'll i'm we'll let's let us me want need like wish to have gotta
        rather prefer think guess believe suppose maybe perhaps probably better best be and then but or for a an the of
        on in at with about from up out over here there this that these those it its it's that's all everything anything
        any whole entire thing things stuff whatever what what's you're are your my our doing current currently ongoing
        running rest remaining anymore again today tonight moment minute second sec bit while time point asap away once
        completely entirely fully altogether work working task tasks job jobs run runs session turn attempt mission
        workflow automation continuation autopilot mode actions agents subagents workers is was looks sounds lgtm more
        too as yourself myself both first next same ahead where were said told nonsense madness i've there's god omg wtf
        ffs damn dammit gosh jesus christ heaven's sake heavens love ugh hell fuck fuck's fucks fucking around quite
        further asked twice beg else editing coding writing changing trying building fixing looping retrying processing
        executing making touching deleting wasting burning spending going generating talking thinking mind last crap
        shit idiot had we've you've bothering bugging kind finally ever god's""",
    "de": """bitte mal doch jetzt sofort einfach eben kurz schon nun also ja ne danke gut super prima klar du ihr wir
        ich kannst könntest könnten können kann darfst dürft sollst solltest sollten soll möchte möchten würde wollen
        uns es das die der den dem des dies diese diesen dieses dieser eine einen ein einem einer und oder aber dann zu
        mit am im von für damit dabei daran hier da arbeit arbeiten aufgabe aufgaben auftrag lauf sitzung vorgang
        prozess aktion befehl ganze ganzen alle alles gesamte aktuelle aktuellen laufende laufenden erstmal erst vorerst
        heute gerade tust machst dass sache sachen mensch lieber besser gern gerne mir dir noch ruhig wieder bei deine
        deiner meine sind fertig deinen musst brauchst sich mehr selbst muss machen kurze mist endlich""",
    "fr": """s'il te vous plaît stp svp merci maintenant tout de suite immédiatement donc alors bon oui d'accord tu peux
        pouvez peut pourrais pourriez va allez faut il je veux voudrais j'aimerais que le la les l' un une d' ça cela
        ceci ce cette c'est travail tâche boulot en et ou mais pour avec sur au aux ici juste simplement aujourd'hui
        l'instant toutes toute tous veuillez bien toi travailler dessus y est qu'on moi vais n'as reste putain""",
    "es": """por favor gracias ahora mismo vale bueno sí puedes podrías puede podemos debes deberías quiero quisiera lo
        el los las una eso esto esa este estas todo toda del con o pero al aquí ahí así trabajo tarea tareas
        trabajar trabajando proceso operación ejecución sesión hoy simplemente solo mejor se nos hacer haciendo está más
        usted yo resto""",
    "pt": """obrigado obrigada agora mesmo sim pouco imediatamente você pode podem poderia deve deveria quero gostaria
        os uma isso isto aquilo tudo dos no na em com e aí trabalho trabalhar trabalhando tarefa tarefas processo
        operação execução sessão hoje apenas melhor fazendo fazer pra assim eu precisas precisa daqui""",
    "ru": """пожалуйста пож плиз ну ок окей да всё это эту этот эти этого того то вот уже сейчас сразу немедленно просто
        теперь тогда давай давайте можешь можете можно мог бы ты вы я мы мне тебе хочу надо нужно следует лучше спасибо
        здесь тут на в с и а но или работу работа работы работать задачу задача задание процесс выполнение операцию
        сессию дело что чтобы делаешь делать всю весь пока сегодня хорошо ладно над этим этом её его об больше сам сама
        остальное""",
}
# Whole clauses, with nothing but courtesy beside them.
ALONE = phrases("""don't|let's not|nicht|cancelled|canceled|task cancelled|task canceled|run cancelled|run canceled|
    job cancelled|job canceled|consider it cancelled""")
# With anything behind it.
OPEN_ENDED = phrases("""stop working on|stop work on|stop the work on|quit working on|no more work on|
    hör auf mit der arbeit an|arrête de travailler sur|deja de trabajar en|pare de trabalhar em""")
# A stop or a wait until the user is back: "stop until I say so", "wait for my review", "pause until tomorrow".
UNTIL = words("until till for bis пока")
USER_IS_BACK = words("i i'm i've we my ich wir я мы tomorrow monday morgen montag завтра")
# May stand inside of a phrase: "put it on hold", "I don't need this anymore".
OBJECTS = words("it this that everything the whole thing work task ça le tout")
# Before "myself", whatever it is that the user will do: "I'll clean this up myself".
TAKES_OVER = words("i'll i'd let lemme")
# A "continue" with anything behind one of these is one: "continue with the login page".
OPENERS = phrases("""continue|go on|resume|proceed|carry on|keep going|keep working|go ahead|weiter|mach weiter|
    fahr fort|continuez|poursuis|reprends|continúa|sigue|prossiga|продолжай""")
GOES_ON_WITH = words("""with but and until till from as where by then so using on to mit bei und bis avec et con y com e
    с и пока""")
# A stop, "and", and something to say or to take back; and what comes before "and stop".
AFTER_AND = words("""tell explain show think wait listen let answer summarize summarise report revert undo commit ask
    look read give describe leave rethink reconsider roll""")
BEFORE_AND = words("commit save summarize summarise push stash revert undo report leave forget wrap clean finish")
AND = words("and und et y e и then")
PLEASE = words("please pls plz bitte favor stp svp пожалуйста")
BECAUSE = words("because since you're you that's it's i i'm we weil parce porque потому")
# With a comma before it, one of these still belongs to what was said: "hör auf, wenn die Tests grün sind".
SUBORDINATE = words("dass daß wenn sobald falls bis чтобы когда если пока")
# Behind a wait anything about the work makes it a way of speaking, but for these: the user has something to do first,
# or the agent is at something else.
OBJECTIONS = tuple(
    [
        f"{phrase} "
        for phrase in phrases("""let me|lemme|i'll|i need to|i want to|i'd like to|i have to|i must|i'm|wrong|
            what are you doing|that's wrong|that's the wrong|that's not what|you're in the wrong|you're on the wrong|
            lass mich|ich muss|das ist falsch|laisse moi|je dois|déjame|tengo que|deixa eu|preciso|мне надо|пока я""")
    ]
)
LATER = words("""then afterwards danach dann anschließend puis ensuite después luego entonces depois então потом затем
    if when once after until unless whenever wenn sobald falls nachdem bis quand si cuando quando se если когда
    после""")
# "Stop ulw once you are done", "stop ulw from looping" end nothing now.
NOT_NOW = LATER - AND | {"from"}
ASKS = words("""please pls ok okay won't can't don't tell ask can could would will shall should kannst könntest peux
    pouvez pourrais puedes podrías pode poderia можешь можете""")
# "Should I continue?"
SELF_QUESTIONS = phrases(
    "should i|shall i|do i|can i|could i|may i|soll ich|kann ich|dois je|puis je|puedo|posso|могу я"
)
YES = words("yes yeah yep yup sure ja oui sí sim да")
ORDINALS = words("first second third last next erste zweite premier deuxième primer segundo")
# What a request begins with.
TASKS = words("""add build change check clean convert create debug delete do edit explain fix generate implement improve
    look make migrate move refactor remove rename replace revert rewrite run set show summarize switch test try update
    upgrade use write behebe repariere baue füge schreibe mach nutze corrige ajoute fais arregla añade haz usa faça
    исправь добавь сделай""")
MAY_FOLLOW = UNTIL | BECAUSE | AND | TASKS | GOES_ON_WITH  # what a stop, a wait or a continue opened
# Before the keyword, a sentence still begins with it.
COURTESY = words("""ok okay so now please pls hey hi alright right and then also but yes yeah no sure great thanks cool
    fine well just oh hmm claude actually first next again all good bitte ja nein jetzt dann merci oui ahora vale por
    favor пожалуйста теперь давай ну ок да""")
NAMES = {"omo": "omo"}  # under which a workflow is stopped or taken up again; omo is all of them
for row in table.ROWS:
    NAMES.update(dict.fromkeys(words(row.words), row.kind))
SMALL = words(" ".join(SMALL_BY_LANGUAGE.values()))
APOSTROPHES: dict[str, str] = {}  # typed without: "dont", "thats"
for word in words("don't doesn't needn't won't can't that's there's what's let's you're i'll i'm i've that'll"):
    APOSTROPHES[word.replace("'", "")] = word
CONTRACTIONS = {  # typed in full
    "do not": "don't", "does not": "doesn't", "that is": "that's", "this is": "it's", "it is": "it's",
    "you are": "you're", "we are": "we're", "i am": "i'm", "i will": "i'll", "any more": "anymore",
    "that will": "that'll",
}  # fmt: skip
PHRASES: dict[str, str] = {}
PHRASES_BY_KIND = {**MARKS, "own work": OWN_WORK, "go": "|".join(GO.values()), "wait": "|".join(WAIT.values())}
PHRASES_BY_KIND |= {"stop": "|".join(STOP.values()), "off": OFF}
for kind, listed in PHRASES_BY_KIND.items():
    PHRASES.update(dict.fromkeys(phrases(listed), kind))
