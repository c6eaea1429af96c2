"""The words and phrases by which a prompt is read, by language: first those of a stop, a wait and a continue, which
stop_words.py reads, then those that tell a use of the keyword from talk about it, which keyword.py reads.

Accents are folded away here and when a prompt is read, so "arrete" is heard as well as "arrête".
"""

from __future__ import annotations

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


# An end of the work as it is now. Said first or last it counts, whatever else the prompt says.
STOP = {
    "en": """stop|stpo|sotp|stopping|halt|cease|quit|abort|cancel|pause|freeze|terminate|end|finish here|enough|
        kill|drop|leave|forget|scrap|abandon|ditch|never mind|nevermind|nvm|don't bother|no need anymore|
        not needed anymore|no longer needed|no longer necessary|not necessary anymore|no longer need|
        don't go any further|go no further|no further|no more|don't work on|do nothing|give up|back off|
        stand down|knock it off|cut it|let it go|let it be|let it rest|leave me alone|call it a day|
        call it quits|call off|call it|pack it in|wrap up|shut up|that's all|that will be all|that'll be all|
        that's it|that'll do|that will do|we're done|you're done|all done|done for today|done for now|
        take a break|take a rest|have a break|bail|break off|hold off|lay off|leave off|
        leave things as they are|leave alone|full stop|shut down|no more changes|hands off|put on hold|park|
        shelve|postpone|suspend|exit|interrupt|seen enough|i'm cancelling|don't need anymore|don't want anymore|
        no longer want|that's everything|that was all|stop changes|stop files|stop code|stop commands|
        stop tokens|stop circles|no more edits|no more code""",
    "de": """stopp|stoppe|stoppen|halt|halte an|anhalten|aufhören|aufzuhören|hör auf|höre auf|hört auf|
        abbrechen|abbruch|brich ab|breche ab|brechen ab|beende|beenden|schluss|feierabend|genug|reicht|reicht's|
        vergiss|vergesst es|vergessen|lass es|lass das|lass sein|lass mal|lass stecken|lass es bleiben|lassen|
        nicht mehr nötig|nicht mehr notwendig|pause|pausiere|pausieren|mach pause|unterbrich|unterbrechen|
        unterbreche|einstellen|stell ein|gib auf|aufgeben|das war's|das wars|fertig für heute|stornieren|
        storniere|hat sich erledigt|erledigt sich|mach schluss|hören auf|lass das bleiben|lass die finger davon|
        finger weg|ändere nichts|nichts ändern|mach nichts|nichts mehr machen|fass nichts mehr an|übernehme|
        mache ich|mach ich""",
    "fr": """arrête|arrêtez|arrêter|arrêtons|arrêt|stoppe|stoppez|stopper|annule|annulez|annuler|annulons|
        laisse tomber|laissez tomber|laisser tomber|laissons tomber|laisse|laissez|laisse béton|oublie|oubliez|
        oublions|oublier|abandonne|abandonnez|abandonner|abandonnons|cesse|cessez|cesser|interromps|interrompez|
        interrompre|suspends|suspendez|suspendre|fais une pause|faites une pause|faisons une pause|
        mets en pause|ca suffit|suffit|assez|c'est fini|c'est tout|c'est terminé|ne va pas plus loin|
        pas la peine|plus la peine|ce n'est plus la peine|ce n'est pas la peine|pas besoin de continuer|
        plus besoin|ce n'est plus nécessaire|plus nécessaire|on s'arrête|s'arrêter|t'arrêter|ne fais plus rien|
        ne fais rien|arrêtes|mettre en pause|termine là|termine ici|finissons|laisse comme ça|n'y touche plus|
        ne touche à rien|ne touche plus à rien|ne change plus rien|m'en occupe|m'en charge|prends le relais""",
    "es": """para|pare|parar|paren|parad|párate|paremos|detente|detén|deténgase|detener|detenerte|detenlo|
        detengamos|alto|basta|eso es todo|cancela|cancelar|cancele|cancélalo|cancelemos|aborta|abortar|aborte|
        anula|anular|anúlalo|olvídalo|olvida|olvídate|olvídelo|olvidar|déjalo|déjala|déjelo|dejarlo|dejémoslo|
        deja|dejar|suspende|suspender|interrumpe|interrumpir|pausa|pausar|haz una pausa|suficiente|ya está bien|
        no sigas|no siga|no continúes|no hace falta|no es necesario|no te molestes|abandona|abandonar|
        hasta aquí|lo dejamos|no hagas nada|no toques nada|no cambies nada|no hagas más|se acabó|pares|
        ponlo en pausa|pon en pausa|termina aquí|terminamos aquí|déjalo estar|quieto|hago|termino|continúo|sigo|
        me encargo""",
    "pt": """pare|para|parar|parem|paremos|cancela|cancele|cancelar|cancelem|aborta|aborte|abortar|esquece|
        esqueça|esquecer|deixa|deixe|deixar|chega|basta|suficiente|encerra|encerre|encerrar|interrompe|
        interrompa|interromper|suspende|suspenda|suspender|pausa|pausar|desista|desiste|desistir|nao continue|
        nao precisa mais|não precisa|não é mais necessário|não faça mais nada|não faça nada|não faz mais nada|
        não mude mais nada|abandona|abandone|acabou|é só isso|por hoje é só|faz uma pausa|faça uma pausa|
        paramos|termina aqui|terminamos aqui|deixa estar|não mexe mais|não mexa mais|faço|termino|continuo|
        assumo|deixa comigo""",
    "ru": """стоп|стой|стойте|остановись|остановитесь|останови|остановите|остановить|остановиться|остановимся|
        остановка|хватит|довольно|достаточно|прекрати|прекратите|прекращай|прекращайте|прекратить|прекращаем|
        перестань|перестаньте|перестать|отмена|отмени|отмените|отменить|отменяй|отменяем|отбой|брось|бросай|
        бросьте|бросаем|оставь|оставьте|оставим|забудь|забудьте|забей|забыли|завершай|завершайте|завершаем|
        заканчивай|заканчивайте|заканчиваем|прерви|прервать|прервись|прервите|пауза|на паузу|приостанови|
        приостановите|приостановить|приостановись|не надо продолжать|не нужно продолжать|больше не надо|
        больше не нужно|не надо больше|не нужно больше|уже не надо|уже не нужно|закругляйся|сворачивайся|
        ничего не делай|сделай паузу|сделайте паузу|поставь на паузу|закончи|закончите|закончим|ты остановился|
        ты остановилась|вы остановились|оставь как есть|ничего не трогай|ничего не меняй|тормози|завязывай|
        продолжу|закончу|доделаю|сделаю|займусь|на этом всё|на сегодня всё|возьму на себя|возьму это на себя""",
    "more": "fermati|ferma|basta|annulla|lascia perdere|stój|dość|dur|stop maar|laat maar",
}
# An end of a mode: a stop where the clause names ulw.
OFF = """off|turn off|turning off|switch off|shut off|disable|deactivate|stop using|get out of|come out of|
    enough of|i'm done with|we're done with|kein mehr|aus|ausschalten|abschalten|deaktiviere|deaktivieren|
    schalte aus|schalt aus|désactive|désactivez|plus de|desactiva|desativa|desative|apaga|desliga|desligue|
    no más|chega de|отключи|выключи|disattiva|spegni|wyłącz|kapat|iptal"""
# A halt for the moment. Followed by work ("wait, also add a test") it is a way of speaking.
WAIT = {
    "en": """wait|hold|hold on|hang on|hold it|hold up|whoa|woah|one moment|one sec|one second|one minute|
        just a sec|just a second|just a minute|give me a moment|give me a minute|give me a second|give me a sec|
        hold your horses|not so fast|not that|not that one|not this|not this one|don't do that|don't do this|
        don't do it|not yet|not now|not today|later|another time|some other time|scratch that|changed my mind|
        tomorrow|stand by|standby|stay put|sit tight|brb|let me think""",
    "de": """warte|warte auf mich|warten|wartet|moment|sekunde|langsam|immer langsam|nicht das|nicht so|
        mach das nicht|nicht machen|das nicht|mach es nicht|nicht jetzt|jetzt nicht|noch nicht|später|
        vielleicht später|ein andermal|morgen|egal|schon gut|macht nichts|doch nicht|
        habe es mir anders überlegt|hab es mir anders überlegt|hab's mir anders überlegt|
        habe mich umentschieden|hab mich umentschieden|machen morgen weiter|mach morgen weiter|
        mach später weiter|machen später weiter""",
    "fr": """attends|attendez|attend|un instant|une seconde|une minute|deux secondes|deux minutes|doucement|
        pas ça|pas cela|ne fais pas ca|ne faites pas ça|pas maintenant|pas encore|plus tard|demain|
        j'ai changé d'avis|changé d'avis|tant pis|peu importe|on verra""",
    "es": """espera|espere|esperen|esperad|un segundo|un minuto|momento|no hagas eso|no hagas esto|no lo hagas|
        eso no|así no|ahora no|todavía no|aún no|más tarde|luego|mañana|cambié de opinión|
        he cambiado de opinión|cambié de idea|he cambiado de idea|da igual|no importa|despacio|seguimos mañana|
        continuamos mañana|seguimos luego""",
    "pt": """espera|espere|esperem|calma|um segundo|um minuto|um instante|não faça isso|não faz isso|isso não|
        agora não|ainda não|mais tarde|depois|amanhã|mudei de ideia|tanto faz|não importa|continuamos amanhã|
        continuamos depois""",
    "ru": """подожди|подождите|погоди|погодите|постой|постойте|секунду|минуту|минутку|секундочку|один момент|
        не делай этого|не делай так|не делайте этого|не надо|не нужно|не это|не так|не сейчас|потом|позже|
        завтра|не сегодня|передумал|передумала|неважно|не важно""",
    "more": "aspetta|wacht|czekaj|bekle|non importa|niet nu",
}
GO = {
    "en": """continue|go on|resume|keep going|carry on|proceed|go ahead|keep on|keep at it|keep it up|
        keep working|move on|get going|get on with it|get back to work|back to work|get back to it|
        pick up where you left off|continue where you left off|continue from where you left off|
        finish what you started|finish|complete it|complete this|complete the task|complete the work|do it|
        let's go|go for it|go go go|ok go|start again|unpause|as you were|approved|i approve|i approved|
        i've approved|i have approved""",
    "de": """weiter|mach weiter|macht weiter|machen weiter|weitermachen|weiterarbeiten|weiterzumachen|
        arbeite weiter|fahr fort|fahre fort|fortfahren|fortsetzen|setz fort|setze fort|mach es fertig|
        mach das fertig|mach fertig|leg los|los|los geht's|auf geht's|nur zu|weiter geht's|geht weiter|
        nicht aufhören|hör nicht auf|weitermachst|weiterarbeitest|mache weiter|mache fertig|mache es fertig|
        mache das fertig|weiterzuarbeiten|weitergehen""",
    "fr": """continue|continuez|continuer|continuons|vas y|allez y|allons y|poursuis|poursuivez|poursuivre|
        poursuivons|reprends|reprenez|reprendre|reprenons|on y va|c'est parti|finis|termine ça|
        termine le travail|n'arrête pas|ne t'arrête pas|avance|avancez|continues""",
    "es": """continúa|continúe|continuar|continuemos|sigue|siga|sigan|seguir|sigamos|adelante|prosigue|
        proseguir|reanuda|reanudar|dale|vamos|hazlo|termínalo|acábalo|termina el trabajo|termina la tarea|
        no pares|no te detengas|sigas|continúes""",
    "pt": """continua|continue|continuar|continuemos|prossiga|prosseguir|segue|siga|seguir|vai em frente|
        vá em frente|siga em frente|pode ir|retome|retomar|retoma|manda ver|vamos em frente|não pare|
        termina isso|termine isso|termine o trabalho""",
    "ru": """продолжай|продолжайте|продолжить|продолжаем|продолжи|продолжим|продолжать|дальше|поехали|вперёд|
        доделай|доделывай|заканчивай это|делай|работай дальше|не останавливайся|не останавливайтесь|возобнови|
        возобновляй|продолжил|продолжила""",
    "more": "continua pure|vai avanti|ga door|kontynuuj|devam",
}
# A stop with a "not" or an "I" before it, as GO is: "don't do anything", "I'll handle this". Alone it is work.
OWN_WORK = """take it|take this|take over|take care of|handle|do this|do that|do the rest|do everything|
    do anything|do anymore|do more|touch anything|change anything|edit anything|make changes|make edits|
    run commands|run anything|commit anything|sort out|write code|edit files|change files|change code|
    touch files|waste tokens|spend tokens|wrap this up|mach es|mach das|mach den rest|mache es|mache das|
    mache den rest|mache alles|termine|terminer|finir|fais|faire|faire le reste"""
SAYS_NOTHING = """in the end|at the end|by hand|manually|on my own|i'll wait|ich warte|leave running|come back|
    get back|pick up|for the day|feel free|ab hier|go ahead and|no problem|no worries|of course|sounds good|
    looks good|looks great|looks fine|looks right|all good|makes sense|lgtm|lass uns|lasst uns|lassen sie uns"""
# "I'll finish it myself", "let me continue": the user takes over. "I want you to continue" speaks to the agent.
FIRST_PERSON = """i|i'll|i'd|i've|i'm gonna|i'm going to|let me|lemme|ich|lass mich|lasst mich|je|laisse moi|
    laissez moi|yo|déjame|voy|puedo|eu|vou|posso|deixa eu|deixe me|я|мне|дай мне"""
# Or a remark ends here, and what follows is said to the agent: "I said continue".
SECOND_PERSON = """want to|would like to|like to|quiero|quero|you|u|we|us|let's|said|say|mean|think|guess|
    believe|suppose|told|like it|like this|like that|du|ihr|wir|uns|tu|vous|on|nous|que|usted|você|ты|вы|мы|
    давай"""
MYSELF = "myself|moi même|yo mismo|yo misma|eu mesmo|eu mesma|я сам|я сама"
# Before a "go" these make it a stop, "no need to continue"; before a stop they make it none, "don't stop".
NOT = "not|don't|needn't|no need|nicht|kein|pas|plus|no quiero|no necesitas|no tienes que|não|не"
# Tells what something does: "that should stop it".
STATEMENT = "that should|this should|it should|that would|this would|it would|this will|it will"
MARKS = {
    "statement": STATEMENT,
    "not": NOT,
    "first person": FIRST_PERSON,
    "second person": SECOND_PERSON,
    "myself": MYSELF,
    "filler": SAYS_NOTHING,
}
# Scripts written without spaces between words, and Korean, whose particles hang on them: read letter by letter.
UNSPACED_BY_KIND = {
    "stop": """停|停止|停下|停下來|停手|停工|住手|取消|取消掉|中止|终止|終止|中断|中斷|暂停|暫停|结束|結束|放弃|
        放棄|算了|不用了|不用做了|不用继续|不用繼續|别继续|別繼續|别做|別做|不做了|别弄了|不弄了|别搞了|不搞了|
        不需要了|不必了|够了|夠了|忘了它|忘了吧|忘掉|到此为止|到此為止|打住|退出|收工|别再|別再|就这样吧|
        就這樣吧|先这样|先這樣|到这里|到這裡|不干了|别干了|不用管了|别管了|止めて|止めます|止まって|止まれ|
        止めろ|止めよう|止めましょう|止めておいて|とめて|止める|ストップ|やめて|やめろ|やめよう|やめましょう|
        やめる|やめておいて|やめといて|辞めて|キャンセル|終了|終わり|終わって|おしまい|忘れて|取り消し|
        取り消して|もういい|もう結構|結構です|十分|続けないで|続けなくていい|続けなくても|やらなくていい|
        しなくていい|進めないで|必要ない|必要ありません|必要はありません|不要|打ち切って|一時停止|放っておいて|
        ほっといて|諦めて|休憩|なかったことに|멈춰|멈출|멈추|그만|그만두자|그만두세요|그만둘|그만할|관둬|중지|
        중단|정지|취소|스톱|스탑|종료|끝내|끝|하지마|하지말아|수정하지마|잊어버려|잊어|됐어|됐습니다|필요없어|
        필요없습니다|안해도돼|안해도됩니다|그쯤해|그쯤하자|일시정지|포기|놔둬|내버려둬|충분해|别改了|別改了|
        不要改了|不要再改|别再改|別再改|停止修改|别动了|不要再动|我自己来|我自己來|我自己做|不用再|我来吧|
        我來吧|我来做|剩下的我来|我来接手|我來做|ここまで|そこまで|何もしないで|やらないで|変更しないで|
        触らないで|必要なくなった|不要になりました|自分でやる|自分でやります|自分で続ける|自分で続けます|
        私がやります|여기까지|내가할게|제가할게요|손떼|없던일로""",
    "wait": """等等|等一下|等下|等一等|等会|等会儿|稍等|慢着|且慢|别动|別動|不要這樣做|别这样|別這樣|不要这样|
        不是这个|不是那个|以后再说|以後再說|改天|明天再说|回头再说|晚点再说|改主意了|改变主意了|明天|明日|내일|
        没事了|沒事了|待って|待った|お待ち|まって|それはやめて|それじゃない|それじゃなくて|違う|まだ|後で|
        あとで|後にして|また今度|また明日|気が変わった|気が変わりました|잠깐|잠시만|기다려|기다리세요|그러지마|
        그거말고|그게아니라|그거아니야|나중에|다음에하자|마음이바뀌었어|마음바뀌었어|아직""",
    "go": """继续|繼續|接着|恢复|恢復|往下|做下去|干下去|别停|別停|别停下|不要停|不要停下|开始吧|去吧|继续干|
        做完|完成它|続けて|続ける|続けよう|続けましょう|続行|再開|続き|進めて|進めましょう|やって|最後まで|
        止めないで|止まらないで|やめないで|仕上げて|계속|진행|이어서|재개|마저|마무리|멈추지마|멈추지말고|
        그만두지마|続けます""",
    "first person": "我|我来|我來|我自己|让我|讓我|私が|僕が|俺が|내가|제가",
    "myself": "할게|할게요",
    "second person": "你|您|我们|我們|给我|給我|帮我|幫我|あなた|당신",
    "small": """请|請|吧|了|啦|呢|吗|嗎|啊|呀|哦|嗯|好|行|那|就|先|现在|現在|马上|馬上|立刻|立即|赶紧|快|都|
        全部|所有|一切|一下|这个|這個|那个|那個|这|這|它|任务|任務|工作|操作|执行|執行|运行|運行|进程|可以|能|
        能否|要|想|把|让|手头|手上|的|当前|當前|目前|今天|暂时|谢谢|謝謝|麻烦|麻煩|做|在|正在|事|事情|不|下去|
        来|地|继续的|もう|いい|です|ます|から|ね|よ|な|お願い|ください|下さい|くれ|ちょうだい|して|すぐ|今|
        ちょっと|一旦|いったん|やっぱり|それ以上|残りは|とりあえず|ここ|その|それ|これ|あれ|を|は|が|に|で|の|
        も|と|この|作業|タスク|処理|実行|仕事|すべて|全て|今日|じゃあ|はい|いえ|いいえ|ありがとう|ございます|
        すみません|ごめん|ましょう|しよう|大丈夫|って|くれる|もらえますか|もらえる|か|いて|よろしく|だ|そう|
        そのまま|さい|欲しい|ほしい|し|이제|좀|그냥|제발|당장|지금|바로|여기서|여기|그거|저거|그것|을|를|은|는|
        이|가|도|다|모두|전부|모든|작업|일|태스크|실행|과제|해|하세요|하자|주세요|줘|요|네|응|아니|괜찮아|
        고마워|감사합니다|오늘|일단|우선|잠시|할수있어|있어|줄래|주실래요|주시겠어요|좋아|알겠어|알았어|오케이|
        자|그럼|진행을|둬|줄|수|있을까|있나요|겠어|부탁해|부탁드려요|까지|만|하고|라|세요|합시다|하던|거|것|
        하는|더|더이상|말아|될까|까요|돼|됩니다|아니야|틀렸어|나머지는|이정도면|여기까지는|剩下|什么都|再|
        아무것도|少し|あと|これ以上|ここまでは|自己|自分で|模式|모드|モード""",
    "ultraplan": "计划|計劃|计画|プラン|計画|계획",
    "ultragoal": "目标|目標|ゴール|목표",
    "verify": "验证|驗證|検証|검증",
    "off": "关闭|關閉|关掉|關掉|禁用|停用|꺼|끄|해제|비활성화|オフ|解除|切って|無効|别再用|別再用|不要再用|停止使用",
}
# Courtesy, framing, and what one stops when one stops the agent: never a thing of the project.
SMALL_BY_LANGUAGE = {
    "en": """please pls plz kindly just now ok okay k so well hey hi hello oh um hmm ah alright right yes yeah
        yep yup nope nah sure thanks thank thx ty cool fine great good perfect nice sorry actually really
        honestly simply immediately instantly already claude agent assistant bot man dude guys buddy mate bro
        can could would will should shall may might must you u ya we i i'd i'll i'm we'll let's let us me want
        need like wish to have gotta rather prefer think guess believe suppose maybe perhaps probably better
        best be and then but or for a an the of on in at with about from up out over here there this that these
        those it its it's that's all everything anything any whole entire thing things stuff whatever what
        what's you're are your my our doing current currently ongoing running rest remaining anymore again today
        tonight moment minute second sec bit while time point asap away once completely entirely fully
        altogether work working task tasks job jobs run runs loop loops session process operation execution
        request command turn activity attempt mission workflow automation continuation autopilot mode actions
        agents subagents workers is was looks sounds lgtm more too as yourself myself both first next same ahead
        where were said told nonsense madness i've there's god omg wtf ffs damn dammit gosh jesus christ
        heaven's sake heavens love ugh hell fuck fuck's fucks fucking around quite further asked twice beg else
        editing coding writing changing trying building fixing looping retrying processing executing making
        touching deleting wasting burning spending going generating talking thinking mind last way crap
        shit idiot had we've you've bothering bugging""",
    "de": """bitte mal doch jetzt sofort einfach eben kurz schon nun also ja ne danke gut super prima klar du
        ihr wir ich kannst könntest könnten können kann darfst dürft sollst solltest sollten soll möchte möchten
        würde wollen uns es das die der den dem des dies diese diesen dieses dieser eine einen ein einem einer
        und oder aber dann zu mit am im von für damit dabei daran hier da arbeit arbeiten aufgabe aufgaben
        auftrag lauf sitzung vorgang prozess aktion befehl ganze ganzen alle alles gesamte aktuelle aktuellen
        laufende laufenden erstmal erst vorerst heute gerade tust machst dass sache sachen mensch lieber besser
        gern gerne mir dir noch ruhig wieder bei deine deiner meine sind fertig deinen musst brauchst sich mehr
        selbst muss machen kurze mist endlich""",
    "fr": """s'il te vous plaît stp svp merci maintenant tout de suite immédiatement donc alors bon oui d'accord
        tu peux pouvez peut pourrais pourriez va allez faut il je veux voudrais j'aimerais que le la les l' un
        une d' ça cela ceci ce cette c'est travail tâche boulot en et ou mais pour avec sur au aux ici juste
        simplement aujourd'hui l'instant toutes toute tous veuillez bien toi travailler dessus y est qu'on moi
        vais n'as reste putain""",
    "es": """por favor gracias ahora mismo vale bueno sí puedes podrías puede podemos debes deberías quiero
        quisiera lo el los las una eso esto esa este estas todo toda todos del con o pero al aquí ahí así
        trabajo tarea tareas trabajar trabajando proceso operación ejecución sesión hoy simplemente solo mejor
        se nos hacer haciendo está más usted yo resto""",
    "pt": """obrigado obrigada agora mesmo sim pouco imediatamente você pode podem poderia deve deveria quero
        gostaria os uma isso isto aquilo tudo do dos no na em com e aí trabalho trabalhar trabalhando tarefa
        tarefas processo operação execução sessão hoje apenas melhor fazendo fazer pra assim eu precisas precisa
        daqui""",
    "ru": """пожалуйста пож плиз ну ок окей да всё это эту этот эти этого того то вот уже сейчас сразу
        немедленно просто теперь тогда давай давайте можешь можете можно мог бы ты вы я мы мне тебе хочу надо
        нужно следует лучше спасибо здесь тут на в с и а но или работу работа работы работать задачу задача
        задание процесс выполнение операцию сессию дело что чтобы делаешь делать всю весь пока сегодня хорошо
        ладно над этим этом её его об больше сам сама остальное""",
    "more": "per favore grazie ora adesso subito tutto graag nu proszę teraz lütfen şimdi",
}
# The names under which a workflow is stopped or taken up again; omo is all of them.
WORDS_BY_NAME = {
    "ulw": "ulw ultrawork",
    "omo": "omo",
    "ralph": "ralph",
    "ultragoal": "ultragoal ultragoals goal goals ziel ziele objectif objectifs objetivo objetivos цель цели",
    "ultraplan": "ultraplan plan plans planning plano план",
    "verify": """verify verification verifying verifikation prüfung vérification verificación verificação
        проверку проверка""",
}

# Whole clauses, with nothing but courtesy beside them.
ALONE = phrases("""don't|let's not|nicht|cancelled|canceled|task cancelled|task canceled|run cancelled|
    run canceled|job cancelled|job canceled|consider it cancelled""")
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
GOES_ON_WITH = words("""with but and until till from as where by then so using on to mit bei und bis avec et con
    y com e с и пока""")
# A stop, "and", and something to say or to take back; and what comes before "and stop".
AFTER_AND = words("""tell explain show think wait listen let answer summarize summarise report revert undo
    commit ask look read give describe leave rethink reconsider roll""")
BEFORE_AND = words("commit save summarize summarise push stash revert undo report leave forget wrap clean finish")
AND = words("and und et y e и then")
PLEASE = words("please pls plz bitte favor stp svp пожалуйста")
BECAUSE = words("because since you're you that's it's i i'm we weil parce porque потому")
# With a comma before it, one of these still belongs to what was said: "hör auf, wenn die Tests grün sind".
SUBORDINATE = words("dass daß wenn sobald falls bis чтобы когда если пока")
# "Wait" and these are a way of speaking where something about the work follows: "wait, why is the test red?"
INTERJECTIONS = words("""wait hold hang whoa woah moment sec second warte sekunde attends attendez instant
    espera espere momento подожди погоди постой""")
# Unless it is about what the agent does, or the user has something to do first: "wait, you're in the wrong file".
OBJECTS_TO = words("you you're that's it's wrong")
OBJECTIONS = words("""wrong mistake oops not don't isn't didn't i i'm i'll i've let my falsch falsche falscher
    nicht ich mich faux mauvais pas je j'ai mal no yo errado errada não eu не я""")
LATER = words("""then afterwards danach dann anschließend puis ensuite después luego entonces depois então потом
    затем if when once after until unless whenever wenn sobald falls nachdem bis quand si cuando quando se если
    когда после""")
# "Stop ulw once you are done", "stop ulw from looping" end nothing now.
NOT_NOW = LATER - AND | {"from"}
ASKS = words("""can could would will shall should kannst könntest peux pouvez pourrais puedes podrías pode
    poderia можешь можете""")
# "Should I continue?"
SELF_QUESTIONS = phrases(
    "should i|shall i|do i|can i|could i|may i|soll ich|kann ich|dois je|puis je|puedo|posso|могу я"
)
# What a request begins with.
TASKS = words("""add build change clean convert create debug delete edit explain fix generate implement improve
    make migrate move refactor remove rename replace revert rewrite run set show summarize switch test try
    update upgrade use write behebe repariere baue füge schreibe mach nutze corrige ajoute fais arregla añade
    haz usa faça исправь добавь сделай""")

# What makes the keyword no use: a negation, and what may stand between the two.
NEGATIONS = words("""not don't dont doesn't isn't shouldn't needn't won't can't cannot no never nothing without
    avoid skip instead rather nor nicht kein keine keinen ohne nie sans pas jamais sin nunca não sem non senza
    не без bez zonder geen niet""")
INSTRUMENTS = words("with using via in under through mit con com avec с через")
NEGATED_WITH_IT = INSTRUMENTS | words("""use used run running start enable activate turn on go going do doing want
    need needed ask asked the any a an into to it this that me you we be of for than by mode switch
    trigger enter try work uses usar quiero utilise utilises benutze benutzen verwende nutze im den das
    используй хочу нравится em en modo""")
# What a question about it begins with, and what makes a question a request.
QUESTIONS = words("""what what's whats why how who where which is are was were does did has should shall isn't
    doesn't didn't aren't wie warum wieso wann comment pourquoi quoi qu'est qué cómo como cuándo что как почему
    когда зачем cosa perché come wat waarom hoe""")
REQUESTS = phrases("""can you|could you|would you|will you|can u|can we|could we|please|pls|kannst du|
    könntest du|peux tu|pouvez vous|puedes|podrías|pode|poderia|можешь|puoi|kun je""")
# What follows it in talk about it: "ulw is stuck", "ulw keeps looping".
STATES = words("""is isn't isnt was wasn't are were has hasn't had does doesn't doesnt did didn't will would
    won't can can't could couldn't should shouldn't might may must seems seem feels looks keeps kept works
    worked fails failed stops stopped loops hangs crashes crashed broke breaks runs ran took takes went goes got
    gets gave gives made makes says means sucks costs needs eats ate ignores ignored burns used uses wants
    deletes deleted rewrites stands exits ended finished activated vs versus or still stuck never always sounds than
    equals looping hanging ist war hat läuft funktioniert macht hängt bleibt kann est était fonctionne marche es
    era está sigue funciona é foi faz это работает завис зависло""")
# And what makes it part of a name: "the ulw hook". The first also where the sentence begins with it.
ITS_OWN = words("""hook hooks keyword keywords command commands plugin skill skills feature support detection
    trigger banner status config settings documentation integration implementation""")
KINDS = ITS_OWN | words("""word words docs doc doku section test tests suite parser logic module code state file
    files branch loop loops run runs session sessions usage user users version prompt prompts message messages
    bug bugs issue thing stuff task tasks server function flag option button name cooldown activation""")
DETERMINERS = words("""the a an my your our their its every each any some another last der die das ein eine le
    la el un une""")
# Right before it these make it what is spoken of; behind the next they do not: "turn on ulw", "time for ulw".
TOPICS = words("""about of for on from between than like over regarding vs versus at how why what whether if
    when where which because called named type types typed typing write writes wrote say says enter word keyword
    term label used tried saw über zu de sobre sur про об di""")
TURNS_TO = words("turn switch put go time job ready now")
# Verbs that have it as their object and do not use it: "fix ulw", "remove ulw".
HANDLES = words("""fix debug remove delete document love like hate implement test review change make add put
    improve discuss mention support ignore detect grep know prefer drop ban allow show write rewrite refactor
    see read check likes loves hates shows supports detects mentions contains documenta""")
# Anywhere before it in the clause, or in the sentence: what is said is about names and words.
NAMING = words("""rename replace compare compared call calls alternatives difference told say says heard
    suggests recommends understand learn translate explain describe define erkläre explique explica explicar
    объясни опиши""")
LISTING = words("types typed typing modes keywords commands plugins such including either")
# Before it a sentence still begins with it.
COURTESY = words("""ok okay so now please pls hey hi alright right and then also but yes yeah no sure great
    thanks cool fine well just oh hmm claude actually first next again all good bitte ja nein jetzt dann merci
    oui ahora vale por favor пожалуйста теперь давай ну ок да""")
NAMES: dict[str, str] = {}
for name, listed in WORDS_BY_NAME.items():
    NAMES.update(dict.fromkeys(words(listed), name))
SMALL = words(" ".join(SMALL_BY_LANGUAGE.values()))
APOSTROPHES: dict[str, str] = {}  # typed without: "dont", "thats"
for word in words("don't doesn't needn't won't can't that's there's what's let's you're i'll i'm i've that'll"):
    APOSTROPHES[word.replace("'", "")] = word
CONTRACTIONS = {  # typed in full
    "do not": "don't", "does not": "doesn't", "that is": "that's", "this is": "it's", "it is": "it's",
    "you are": "you're", "we are": "we're", "i am": "i'm", "i will": "i'll", "any more": "anymore",
}  # fmt: skip
PHRASES: dict[str, str] = {}
PHRASES_BY_KIND = {**MARKS, "own work": OWN_WORK, "go": "|".join(GO.values()), "wait": "|".join(WAIT.values())}
PHRASES_BY_KIND |= {"stop": "|".join(STOP.values()), "off": OFF}
for kind, listed in PHRASES_BY_KIND.items():
    PHRASES.update(dict.fromkeys(phrases(listed), kind))
UNSPACED = dict(NAMES)
for kind, listed in UNSPACED_BY_KIND.items():
    UNSPACED.update(dict.fromkeys(phrases(listed), kind))
# Korean, Japanese and Chinese: what stands right before the keyword, or right behind it, and what that makes of it.
STOPPED = tuple([word for word, kind in UNSPACED.items() if kind in ("stop", "off")])
LETTER_RULES = (
    (
        *("negated", "none"),
        tuple(words("不要用 不要 别用 別用 不用 不使用 别开 不开 无需 無需")),
        tuple(words("없이 말고 빼고 쓰지 사용하지 하지마 なし を使わ は使わ 使わ は不要")),
    ),
    ("about", "none", STOPPED, STOPPED),
    (
        *("about", "none"),
        tuple(words("什么是 什麼是 解释 解释一下 说明 介绍 关于 为什么 给 比较")),
        tuple(
            words("""뭐 가 는 은 의 란 라는 문서 키워드 기능 버그 관련 플러그인 왜 쓰면 は が の って とは 是 的
            一直 总是 和 会 好用 怎么 为什么 有""")
        ),
    ),
    ("use", "activate", tuple(words("用 使用 以 启动 开启")), tuple(words("로 으로 를써 를사용 で を使"))),
)
ASKED_BESIDE = tuple(words("뭐 무엇 왜 어떻게 언제 방법 何 なぜ どう 什么 什麼 怎么 为什么 如何 吗"))
