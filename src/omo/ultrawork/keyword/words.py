"""The words that decide, in every language we read. Data only; looked up as sets, so nothing is compiled."""

from __future__ import annotations

# One table for all languages written with spaces: word classes, because a set lookup needs no compiling.
WORDS = {
    "filler": """ok okay so now please pls plz kindly hey hi hello alright right and then also but yes yeah yep yup
        no nope sure great thanks thank thx cool fine perfect well just oh um hmm claude actually first finally next
        again all good nice bitte ja nein jetzt dann mal doch einfach danke merci oui non maintenant stp svp alors
        ahora gracias sí si vale bueno entonces agora obrigado sim então por favor пожалуйста теперь давай ну ок да
        нет спасибо тогда просто per favore ora allora graag nu proszę teraz lütfen şimdi et und y e и""",
    "tail": """mode modus modo режим please pls plz now thx thanks thank you again time here bitte jetzt on it go ja
        por favor s'il te plaît plait vous stp svp merci danke gracias obrigado пожалуйста спасибо сейчас today
        immediately asap claude ok okay this session right away already for mal endlich sofort ahora agora
        maintenant ya já run per favore lütfen proszę nu graag ein fertig zu ende durch""",
    "negator": """not don't dont no never without avoid skip nor isn't instead rather shouldn't needn't nicht kein
        keine keinen ohne niemals nie sans pas ne n' jamais sin nunca não nao sem non senza не без никогда нет bez
        zonder geen niet olmadan""",
    # What may stand between a negation and the keyword it governs.
    "bridge": """quiero quieres quero veux möchte хочу voglio use using used run running start starting enable
        activate turn on go do doing want need the any a an in into with to it this that me be please switch trigger
        invoke engage enter apply call try of than for work working by via mode you nutze benutze verwende nutzen
        benutzen verwenden mit das es den im starte utilise utilisez utiliser lance active avec d' de l' le la du
        uses usar usa utilices con el en actives lo com o ative utilize используй использовать запускай включай
        режим режима в usare""",
    "cancel": """stop stopping cancel cancelling canceling end quit exit abort kill disable deactivate terminate
        halt drop ditch stopp stoppe beende beenden deaktiviere abbrechen stoppen arrête arrete arrêtez arrêter
        désactive desactive désactivez annule annulez termine quitte stoppez detén deten detener para parar pare
        pára cancela cancelar cancele desactiva desactivar desativa desative desativar encerra encerre apaga desliga
        desligue termina останови остановить отключи выключи отмени прекрати стоп хватит заверши останавливай ferma
        fermare annulla disattiva spegni stopper annuleer zatrzymaj wyłącz anuluj durdur kapat iptal""",
    "cancel-after": """off stop cancel end stoppen beenden abbrechen aus stopp ausschalten abschalten deaktivieren
        stoppe beende stoppt arrête arrete para pare cancela стоп выключи останови отмени хватит durdur kapat iptal""",
    "cancel-bridge": """using use the this with of out our my doing running run all mode modus modo le la l' el o a
        de d' den das режим работу il mit current any more""",
    "splitter": "turn turning switch shut schalte schalt mach mache brich hör höre zet put",
    "off": "off down aus ab auf uit away",
    "later": """when once after if unless whenever until till as before wenn sobald nachdem falls bis quand lorsque
        après si cuando después hasta quando depois até se когда после если как dopo""",
    "use": """use run start enable activate try engage launch invoke trigger begin enter do turn switch apply employ
        resume continue restart initiate kick fire using go keep nutze benutze verwende starte aktiviere nimm
        schalte schalt mach utilise utilisez active activez lance lancez démarre demarre passe reprends usa utiliza
        activa inicia lanza enciende pon ponte utilize ative ativa inicie ligue liga используй используйте включи
        запусти примени применяй активируй начни продолжай utilizza attiva avvia gebruik użyj włącz uruchom kullan
        nutzen benutzen verwenden utiliser usar utilizar использовать""",
    "use-bridge": """the on to into up off in with our it this that everything all some full your le la l' el o a
        den das im en au de d' mode modus modo режим режиме в на es lo il modalità using again out""",
    # What may follow the keyword when it is an object; a bare noun there makes it a compound ("run ulw tests").
    "goes-on": """machen erledigen reparieren beheben fixen lösen umsetzen bauen after to for on and with please pls
        plz now here again until till this that it the my our all every everything at because so as mode then but
        modus modo режим um zum für und bitte pour et stp para y por e чтобы для и на per als om voor today first
        instead these those both whatever jetzt wenn auf bei hier aquí aqui ici tutto i""",
    "task": """fix implement build add refactor create make update migrate clean finish complete do write review
        check debug deploy test improve optimize optimise upgrade port convert rewrite remove delete rename replace
        move merge rebase get set solve resolve handle work ship develop design analyze analyse audit investigate
        find research look go read run start begin continue keep prepare generate extract split reduce speed
        simplify modernize validate verify ensure figure put bump publish release plan scaffold setup configure
        install integrate wire close address tackle repair patch polish tidy lint format cover train profile
        benchmark reproduce apply change edit rework finalize finalise proceed translate diagnose commit push pull
        revert sort organize help give bring take try rerun redo knock rip bootstrap harden trace track unify inline
        document explain show list summarize execute use rebuild redesign drop behebe fixe repariere implementiere
        baue bau füge erstelle schreibe schreib mach mache teste prüfe räume refaktoriere korrigiere aktualisiere
        löse ändere optimiere migriere beheb reparier corrige corrigez répare repare implémente implemente ajoute
        crée fais faites refactorise mets écris migre résous nettoie vérifie arregla implementa añade agrega crea
        haz hazlo refactoriza escribe mejora migra resuelve limpia revisa actualiza corrija conserte arrume adicione
        crie faça faz refatore escreva melhore resolva limpe revise atualize исправь почини реализуй добавь создай
        сделай напиши отрефактори обнови проверь доделай перепиши закончи оптимизируй делай termine termina correggi
        aggiungi fai sistema scrivi repareer maak napraw zrób düzelt yap""",
    # A request, but one for words: the keyword in it is the topic, unless set apart by a comma.
    "talk-verb": """explain describe document tell define compare discuss summarize summarise mention grep search
        say type spell call rename name label tag show list write replace swap integrate combine mix blame erkläre
        erklär beschreibe dokumentiere vergleiche explique décris documente explica documenta compara descreva
        объясни опиши расскажи сравни spiega""",
    "generic": """do run work continue proceed execute handle finish go start operate complete stay get switch put
        tackle enter keep mach mache arbeite fais faites travaille hazlo haz trabaja faça faz trabalhe сделай делай
        работай fai""",
    "pronoun": """this it that everything all the rest task whole thing these those work them now on full please
        into in be remaining das es alles ça cela tout le esto eso todo isso isto tudo это всё все questo tutto job
        going of us one""",
    "instrument": "with using via through mit per avec con com с через usando utilizando используя met",
    "inside": "in im en em в into",
    # Whole pieces of work: nobody finishes or ships something *of* a mode.
    "undertake": "implement finish complete build migrate port ship execute upgrade rewrite deliver",
    # German puts the object first and the verb last: "mit ulw die Tests reparieren".
    "german-object": "die das den der alle alles diese dieses diesen dies meine mein meinen unsere unser unseren",
    "article": "the a an le la l' el o il den das dem un une uno um mode modus modo режиме режим full modalità de",
    "link": """about of for to on from in with and or the a an this that my your our his her its their by as like
        than via into onto at vs versus called named is are was were be been what which how why when where who if
        whether because between both either neither plus every each any some no not using through under against over
        i you we they he she it's that's über von für zu mit und oder der die das den dem ein eine einen im am de du
        des le la les un une pour avec et ou en sur el los las del con y o para por sobre do da dos com e um uma na
        в с о об для и или про на к из по di il per van het l' d' qu' still also even""",
    "determiner": """the a an my your our his her its their this that these those all every everything it them each
        both rest any us me""",
    "kind": """keyword keywords word words command commands plugin plugins skill skills hook hooks feature features
        support logic detection detector trigger triggers activation banner prompt prompts state documentation
        implementation module handler flag flags bug bugs issue issues problem problems integration label branch
        status config configuration setting settings workflow loop loops usage user users version versions modes
        alias option options string term prefix token tokens variable function class file folder directory package
        section channel name tool tools regex parser matcher session sessions behaviour behavior semantics stuff
        button menu entry schlüsselwort befehl funktion commande palabra comando palavra слово команда ключевое api
        cost costs message messages output""",
    # Even right behind a leading keyword these make it a compound; "ulw parser …" may be a task.
    "own": """keyword keywords command commands plugin plugins skill skills hook hooks feature features support
        logic detection detector trigger triggers activation banner documentation implementation integration status
        config configuration setting settings workflow loop loops usage user users modes semantics behaviour
        behavior cost costs state alias prompt prompts schlüsselwort befehl commande comando команда bug bugs""",
    "defect": """problem problems issue issues bug bugs trouble error errors experience conflict conflicts crash
        crashes interaction compatibility regression problema problemas problème probleme fehler проблема проблемы
        ошибка баг""",
    "no-tool": """deal cope help familiar wrong happens happen occurs occur fails fail compatible work works
        interact play plays interfere loop loops stuck when while after before by if for of about are is am i'm was
        were""",
    "enumerates": "such including between either modes keywords called named versus vs",
    "listing": """like likes such including between both either modes keywords commands plugins words options
        features skills called named vs versus supports support tried used love loves prefer prefers keyword mode
        command word trigger say says type typed typing read unlike compare compared""",
    "talk": """is isn't was wasn't are aren't were has hasn't had hadn't does doesn't did didn't will would won't
        wouldn't can can't could couldn't cannot should shouldn't might may must seems seem feels looks keeps kept
        works worked fails stops loops hangs crashes broke breaks ran runs took takes went goes got gets gave gives
        made makes said says thinks thought means meant stands refers sucks rocks costs needs vs versus or still
        stuck never always constantly randomly suddenly looping hanging broken active inactive enabled disabled
        sometimes often not became becomes ate lost saved saves helps wants isnt doesnt didnt wasnt hasnt sounds
        happens deserves rules equals than like done finished ist war hat läuft funktioniert macht hängt bleibt wird
        kann soll geht bedeutet heißt tut nervt spinnt est était fait marche fonctionne plante boucle peut signifie
        semble n'est es era está sigue fue tiene funciona puede significa hace parece ha é foi tem faz pode fica
        trava это значит означает работает зависает зависло сломался сломалось висит был было является может
        крутится è fa funziona sta werkt doet jest działa nedir çalışıyor mı mi""",
    "adverb": "just also really already actually only then now again mode modus modo режим",
    "wh": """what what's whats why how who whose when where which is are was were does do did has have should shall
        may might am isn't doesn't didn't aren't wie warum wer wann wo welche wieso comment pourquoi quoi quel
        quelle quand où qu'est c'est qué que cómo como cuándo cuál cual qual quê quando porque что почему как когда
        зачем какой кто чем сколько cosa perché come wat waarom hoe co jak dlaczego ne nasıl neden any anyone
        anybody""",
    "offer": """can could would will can't won't kannst könntest peux pouvez pourrais puedes podrías pode poderia
        можешь""",
    "you": "you we u ya tu vous du we'll",
    "if-when": "if when wenn falls si quand cuando se quando если когда",
    "typing": "type types typed typing say says write writes user users someone somebody anyone people enters ich",
    "not-with": """replace swap integrate combine mix compare merge associate conflict deal cope tausche ersetze
        remplace""",
    "not-needed": """needed necessary required now today verwenden nutzen benutzen nötig starten aktivieren
        nécessaire besoin nodig""",
    "reason": "it its it's this that that's you you're we i i'm the because since there there's",
    "desire": """want need needs like for quiero quero möchte will brauche veux хочу нужен necesito preciso voglio
        wil voudrais""",
    # "I want ulw to be faster" wishes something of the mode, not of the work.
    "wish": "stop be not have support work show handle respect know understand let end never always",
    "teller": "i we it they he she my the our this that there",
    "not-past": "embed seed feed speed need proceed shred shed exceed succeed breed bleed unneeded red bed",
    "amount": "too many much more no nothing so forever not up down out when because only half",
    "not-third": """this us its thanks canvas alias js ts css aws ios focus bias yes thus status plus minus tests
        docs tasks issues""",
    "conj": "and then but so und dann aber et puis mais y luego pero e depois mas и затем потом но or poi en plus",
}  # fmt: skip

# Phrases that make what follows a request; "i want" also takes the keyword itself as object.
LEADS = """can you|could you|would you|will you|can u|could u|can we|could we|can't you|would you mind|
i want you to|i want to|i'd like you to|i'd like to|i would like you to|i would like to|i need you to|i need to|
we need to|we should|we can|you should|you can|you could|you may|you must|you need to|let's|lets|let us|
go ahead and|go and|feel free to|make sure to|make sure you|be sure to|don't forget to|remember to|time to|time for|
it's time to|it's time for|i think you should|i think we should|might as well|i want|i need|i'd like|i would like|
we need|we want|this needs|this calls for|i want this|kannst du|könntest du|könnt ihr|lass uns|ich möchte|ich will|
ich brauche|ich möchte dass du|wir sollten|peux tu|pouvez vous|tu peux|pourrais tu|je veux|j'aimerais|il faut|
je voudrais|on va|s'il te plaît|s'il vous plaît|puedes|podrías|quiero que|quiero|vamos a|necesito|hay que|pode|
você pode|poderia|quero que|quero|vamos|preciso|preciso que|можешь|ты можешь|хочу|нужно|надо|нужен|puoi|voglio|
potresti|kun je|ik wil"""

# Scripts without spaces are read as patterns; \1 stands for the keyword. Compiled when the script turns up.
SCRIPTS = {
    "ko": ("[가-힣]", {
        "negated": "\1 ?(?:모드)?(?:를|을|은|는|로|으로)? ?(?:없이|빼고|말고|금지|쓰지|사용하지|하지 ?[마말]|켜지|"
                   "돌리지|안 ?[쓰써해]|제외)",
        "about": "\1(?: ?모드)?(?:은|는|이|가|의|란|이란|라는|이라는|라도|도|랑|이랑|와|과|이나|에|처럼|보다|"
                 "만)(?![가-힣]{0,2}(?:줘|주세요))|\1(?:를|을)(?! ?(?:써|쓰|사용|켜|돌|시작|적용|활성|실행|이용|"
                 "가동|걸|통해|이제|좀|중|그만|멈|취|끄|꺼|종|정|해제|비활))|\1(?: ?모드)? (?:키워드|플러그인|"
                 "기능|문서|버그|훅|명령|관련|지원|설명|재밌|좋|별로|왜|어떻게|진짜|너무|방법|중지 방법|상태)|"
                 "\1.*[ㅋㅎ]{2}",
        "cancel": "\1(?: ?모드)?(?:를|을|은|는)? ?(?:(?:이제|당장|지금|좀|그냥) ?)*(?:중지|그만|멈춰|멈추|중단|"
                  "취소|꺼|끄|종료|정지|해제|비활성화|스톱)|(?:중지|그만|멈춰|취소|중단) ?\1",
        "use": "\1(?: ?모드)?(?:로|으로)(?![가-힣])|\1(?: ?모드)?(?:를|을)? ?(?:써|쓰자|사용|켜|돌려|돌리|시작|"
               "적용|활성화|실행|이용|가동|걸어|통해|가자|고고|해줘|하자|부탁)",
        "question": "뭐|무엇|무슨|왜|어떻게|언제|얼마|인가|나요|까요|습니까|는지|차이|방법",
        "request": "줘|주세요|주실|줄래|하자|해라|부탁|세요|바람|합시다|해$",
        "trailing": "(?:줘|주세요|세요|하자|해라|해|라|부탁해|부탁드려요|합시다|줄래|바람) ?\1$",
        "polite": "제발|이제|당장|지금|좀|그냥|모드|해|하|시켜|줘|주세요|줄래|주|라|세요|자|요|십시오",
    }),
    "ja": ("[ぁ-ヿ]", {
        "negated": "\1(?:モード)?(?:は|を|で|には)? ?(?:なし|無し|抜き|使わ|使用しない|不要|いらない|要らない|"
                   "しないで|禁止)",
        "about": "\1(?:モード)?(?:は|が|の|って|とは|という|も|に|と|より)(?!して|よ)|\1(?:モード)?を(?!使|つか|"
                 "有効|オン|起動|開始|実行|始|入れ|利用|適用|用い|もう|止|とめ|やめ|辞|停|中止|終|キャ|オフ|解除|"
                 "切|無効|スト)",
        "cancel": "\1(?:モード)?(?:を|は)? ?(?:もう|今すぐ)? ?(?:止め|とめ|やめ|辞め|停止|中止|終了|キャンセル|"
                  "オフ|解除|切って|無効|終わ|ストップ)",
        "use": "\1(?:モード)?(?:で|にて)|\1(?:モード)?を?(?:使|つか|有効|オン|起動|開始|実行|始|入れ|利用|適用|"
               "用い|して|お願い)",
        "question": "何|なに|なぜ|どう|いつ|どこ|ですか|ますか|のか|違い|方法",
        "request": "ください|下さい|くれ|もらえ|いただけ|お願い|頼む|ほしい|欲しい|て$|しろ$|せよ$",
        "trailing": "(?:て|ください|下さい|頼む|お願い|しろ|せよ|よう|くれ)[ 　]*\1$",
        "polite": "もう|今すぐ|モード|して|て|め|る|に|し|ください|下さい|くれ|よ|ね|を|は",
    }),
    "zh": ("[一-鿿]", {
        "negated": "(?:不要|别|別|不用|无需|無需|不必|不想|不|没有|沒有|禁止|避免) ?(?:使用|用|开启|启动|进入|"
                   "启用|開啟|啟動|進入|啟用|开)? ?\1",
        "about": "(?:关于|關於|什么是|什麼是|解释|解釋|说明|說明|介绍|介紹|描述|比较|比較|支持|添加|实现|修复|"
                 "修復|文档|叫|喜欢|搜索|查找|的)(?:一下)? ?(?:关于)?\1|\1 ?(?:模式)?(?:是|的|有|会|會|总是|總是|"
                 "一直|为什么|為什麼|怎么|怎麼|吗|嗎|和|与|跟|很|太|不|没|卡|出|报错|坏|关键词)",
        "cancel": "(?:停止|停掉|停下|停|取消|关闭|關閉|关掉|關掉|退出|结束|結束|终止|終止|中止|禁用|停用)(?:使用|"
                  "用|执行|运行)? ?\1|(?:别|別|不要)再(?:使用|用|跑)? ?\1|\1 ?(?:模式)?(?:停止|停|取消|关闭|關閉|"
                  "关掉|關掉|退出|结束|結束|终止|終止)",
        "use": "(?:使用|用|以|通过|透過|开启|開啟|启动|啟動|打开|打開|进入|進入|启用|啟用|切换到|切換到|开|跑|"
               "上) ?\1",
        "question": "什么|什麼|怎么|怎麼|如何|为什么|為什麼|吗|嗎|是否|哪|多少|区别|方法",
        "request": "请|請|帮|幫|麻烦|给我|修|改",
        "trailing": "^(?:请|請|帮|幫|把|将|修|改|写|加|实现|重构|优化|完成|继续|做|搞|解决|处理|更新|升级|迁移|"
                    "检查|测试).{2,} \1$",
        "polite": "吧|了|啦|一下|模式|谢谢|请|請|现在|現在|马上|立刻|先|运行",
    }),
}  # fmt: skip

COURTESY = (
    "please",
    "pls",
    "plz",
    "kindly",
    "bitte",
    "favor",
    "favore",
    "stp",
    "svp",
    "пожалуйста",
    "давай",
    "lütfen",
    "just",
)


STOP_PHRASES = """no more|enough|enough of|enough with|i'm done with|i am done with|we're done with|get out of|
come out of|turn off|switch off|shut off|shut down|turning off|plus|plus de|plus d'|chega|basta|no más|no mas|
mais nada de|hör auf mit|hör mit|больше не надо|больше никакого"""


_sets: dict[str, frozenset[str]] = {}
_phrases: dict[str, frozenset[str]] = {}


def words_of(name: str) -> frozenset[str]:
    found = _sets.get(name)
    if found is None:
        found = _sets[name] = frozenset(WORDS[name].split())
    return found


def phrases(table: str) -> frozenset[str]:
    found = _phrases.get(table)
    if found is None:
        found = _phrases[table] = frozenset(phrase.strip() for phrase in table.split("|"))
    return found
