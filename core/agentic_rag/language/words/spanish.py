"""The word table of Spanish."""

from __future__ import annotations

from agentic_rag.language.words.word_table import (
    LENGTH,
    LOUDNESS,
    POWER,
    WARMTH,
    WEIGHT,
    Asked,
    Wording,
    WordTable,
    word_set,
)

_MONTHS = r"(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|sep?tiembre|octubre|noviembre|diciembre)"
_DAYS = r"(?:lunes|martes|miércoles|jueves|viernes|sábados?|domingos?)"
_NUMBERS = (
    r"(?:un[oa]?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince|dieci\w+|veinte|"
    r"veinti\w+|"
    r"treinta|cuarenta|cincuenta|sesenta|setenta|ochenta|noventa|cien(?:to)?|\w*cientos|mil|millón|millones|medi[oa]|"
    r"mitad|"
    r"doble|ningun[oa]?|ningún|cero)"
)
_AMOUNT = rf"(?:(?<![\w-])\d[\d.,]*|\b{_NUMBERS}\b)"
_SPAN = (
    r"(?:(?:mili)?segundos?|minutos?|horas?|días?|semanas?|quincenas?|mes(?:es)?|trimestres?|semestres?|años?|décadas?|"
    r"siglos?|min|h)"
)
_CALENDAR = (
    rf"\b\d{{1,2}}(?:\.º|º)? de {_MONTHS}\b|\b{_MONTHS} de(?:l año)? \d{{4}}|\b(?:1[0-9]|20)\d\d\b|\b{_MONTHS}\b|"
    rf"\b{_DAYS}\b|"
    r"\b\d{1,2}[./]\d{1,2}[./]\d{2,4}|\b\d{1,2}[.:]\d\d\b|\ba las? \w+|\bsiglo [ivxl]+|"
    r"\b(?:diari[oa](?:mente)?|semanal(?:mente)?|mensual(?:mente)?|anual(?:mente)?|trimestral(?:mente)?)\b|"
    rf"\bcada (?:\w+ )?{_SPAN}|\b(?:hoy|ayer|mañana|mediodía|medianoche|principios|mediados|finales|primavera|verano|"
    rf"otoño|"
    rf"invierno)\b|\b(?:antes|después|dentro|hasta|desde)\b[^.]{{0,20}} {_SPAN}"
)
_ANYONE = r"(?:yo|se|uno|tengo|puedo|debo|podemos|debemos|hay que|hago|hacemos)"

SPANISH = WordTable(
    code="es",
    stemmer="spanish",
    marks="¿¡ñ",
    letters="áéíóúüñ",
    function_words=word_set(
        """
        el la los las lo un una unos unas al del de a en con por para sin sobre entre hasta desde hacia según
        durante contra tras ante bajo y e o u ni que qué como cómo cuando cuándo donde dónde adónde quien quién
        quienes quiénes cual cuál cuales cuáles cuanto cuánto cuanta cuánta cuantos cuántos cuantas cuántas cuyo
        cuya yo tú él ella ello nosotros nosotras vosotros ustedes usted ellos ellas me te se nos os le les mi
        mis tu tus su sus nuestro nuestra nuestros nuestras este esta esto estos estas ese esa eso esos esas
        aquel aquella aquellos aquellas es son era eran fue fueron ser sido siendo sea sean será serán sería
        está están estaba estaban estar estado estará estuvo soy somos hay había haber he has ha hemos han haya
        hubo tiene tienen tengo tenemos tener tenía tenían tuvo puede pueden puedo podemos poder podía pudo debe
        deben debo debemos deber si sí no ya muy más menos mucho muchos mucha muchas poco todo todos toda todas
        cada otro otra otros otras mismo misma también sólo solo aún todavía porque pues pero sino aunque
        mientras así aquí allí ahí ahora entonces luego siempre nunca antes después dentro fuera vez veces favor
        cosa quiere quieren quiero queremos va van voy vamos
        """
    ),
    asking_stems=word_set(
        """
        año fecha hora día número cantidad nombre tipo llam denomin hac haz hag dij dec dice nuev primer últim
        actual exact total tiempo momento diferenci siguient conoc signific horari
        """
    ),
    endings=("aciones", "amientos", "imientos", "amiento", "imiento", "ciones", "amente", "mente", "ación", "iones",
             "ieron", "iendo", "aban", "amos", "emos", "imos", "aron", "ando", "adas", "ados", "idas", "idos", "ción",
             "arse", "erse", "irse", "aba", "ada", "ado", "ida", "ido", "ían", "ará", "erá", "irá", "rán", "ión", "ar",
             "er", "ir", "ía", "an", "en", "as", "es", "os", "ó", "é", "a", "e", "o", "s"),
    folds={"á": "a", "é": "e", "í": "i", "ó": "o", "ú": "u", "ü": "u"},
    never_last=word_set(
        """
        sr sra srta sres sras dra drs dña profa lic ing arq gral cnel tte avda av ctra pza pl pp ed eds ej p.ej
        aprox vid fr hnos sto sta excmo excma ilmo ilma ud uds vd vds s.m dpto depto dept no cod cód admón apdo
        incl ref ee rr
        """
    ),
    before_figures=word_set(
        """
        núm núms nº pág págs vol vols cap caps art arts fig figs tel telf tfno ext rev sec párr máx mín c
        """
    ),
    seldom_last=word_set("cía ltda s.a s.l ee.uu rr.hh uu a.m p.m a.c d.c h min"),
    questions=(
        (Asked.DOCUMENTS, Wording(
            r"^¿? ?(?:en )?(?:qué|que|cuáles) (?:\w+ )?(?:documentos?|archivos?|informes?|actas?|contratos?|políticas|"
            r"manuales|guías|acuerdos)\b"
        )),
        (Asked.SUMMARY, Wording(r"^¿? ?(?:(?:me )?(?:puedes|podrías) )?resum(?:e|ir|en)\b|\b(?:un|"
        r"breve) resumen\b")),
        (Asked.YES_NO, Wording(
            r"^¿? ?(?:se (?:le |me |nos |les )?(?:puede|debe|permite|devuelve|paga|acepta|admite|necesita|cobra)\w*|"
            r"es|son|está|"
            r"están|hay|tiene|tienen|tengo|puede|pueden|puedo|podemos|debe|debo|hace|necesito|era|fue|ha|han)\b"
        )),
        (Asked.REASON, Wording(
            r"\b(?:por qué|cuál (?:es|fue) (?:el motivo|la razón|la causa)|a qué se deb\w+|qué causó|"
            r"por cuál motivo)\b|^¿? ?por que\b"
        )),
        (Asked.STEPS, Wording(
            rf"\bc[óo]mo {_ANYONE}\b|\bqué (?:hago|debo hacer|tengo que hacer|hay que hacer|se hace|hacer|hacemos|"
            rf"pasos)\b|"
            r"\bqué (?:pasa|ocurre|sucede) (?:si|cuando)\b|\bpaso a paso\b|^¿? ?c[óo]mo se \w+"
        )),
        (Asked.DEFINITION, Wording(
            r"^¿? ?qué (?:es|son|significa) (?:un[oa]? |el |la |los |las )?[\w-]+ ?\??$|\bqué significa\b|"
            r"\bqué se entiende por\b|\bqué quiere decir\b"
        )),
        (Asked.COMPARISON, Wording(
            r"\bdiferencias? entre\b|\ben comparación con\b|\bcomparad[oa]s? con\b|\b(?:más|menos|mayor|menor|mejor|"
            r"peor) .*\bque\b"
        )),
        (Asked.PRICE, Wording(
            r"\bcuánt\w* (?:cuesta|cuestan|vale|valen|cobra\w*|pag\w+|dinero|cost\w+|gan\w+|euros|dólares)\b|\bprecio|"
            r"\btarifa de\b|"
            r"\bqué (?:precio|tarifa|importe|coste|costo|sueldo|salario)|\bcuál es el (?:\w+ )?(?:precio|importe|"
            r"coste|costo|sueldo|salario)"
        )),
        (Asked.HOW_LONG, Wording(
            rf"\bcuánto (?:tiempo|dura|tarda|tardan|duró|tardó)\b|\bcuánt[oa]s {_SPAN}\b|\bcada cuánto\b|"
            rf"\bcon qué frecuencia\b|"
            r"\bqué edad\b|\bqué plazo\b|\bcuántas veces\b"
        )),
        (Asked.HOW_MUCH, Wording(
            r"\bcu[áa]nt[oa]s?\b|\bqué (?:cantidad|número|porcentaje|proporción|temperatura|tamaño|altura|velocidad|"
            r"distancia)\b|"
            r"\bcuál (?:es|era|fue) (?:el|la) (?:\w+ )?(?:cantidad|número|porcentaje|temperatura|tamaño|altura|"
            r"velocidad|"
            r"distancia|población|longitud|capacidad|límite|máximo|mínimo)\b"
        )),
        (Asked.WHEN, Wording(
            r"\b(?:cuándo|a qué horas?|qué hora|qué horario|hasta qué hora|desde qué hora)\b|^¿? ?cuando\b|"
            r"\bqué (?:año|fecha|"
            r"día|mes|siglo|momento|década|época)\b|\bcuál (?:es|fue|era) (?:el año|la fecha|el plazo|el horario)\b"
        )),
        (Asked.WHO, Wording(
            r"\bqui[ée]n(?:es)?\b|\bqué (?:persona|jugador|rey|presidente|autor|científico|hombre|mujer|director)\w*\b|"
            r"\bcuál (?:es|era|fue) el nombre del? "
        )),
        (Asked.WHERE, Wording(
            r"\b(?:dónde|adónde)\b|^¿? ?(?:a |de )?donde\b|\bqué (?:ciudad|país|lugar|sitio|edificio|estado|región|"
            r"calle|isla|"
            r"continente|provincia|sala|planta)\b"
        )),
        (Asked.LIST, Wording(
            r"^¿? ?(?:enumera|lista|nombra)\b|^¿? ?(?:cuáles|qué) (?:son|eran|fueron)\b|^¿? ?qué (?!es\b|"
            r"este\b)\w+[aeo]s "
            r"(?:son|siguen|hay|tienen|deben|pueden|tengo|puedo|hacen|existen|incluye)\b"
        )),
        (Asked.WHICH, Wording(r"\b(?:qué|cuál|cuáles)\b|^¿? ?que\b")),
    ),
    answers={
        Asked.SUMMARY: Wording(r"^[#\d.\s]*(?:resumen|en resumen|síntesis|puntos principales)\b"),
        Asked.WHEN: Wording(_CALENDAR),
        Asked.HOW_MUCH: Wording(_AMOUNT),
        Asked.HOW_LONG: Wording(
            rf"{_AMOUNT} ?(?:\w+ )?{_SPAN}\b|\b(?:diari[oa]|semanal|mensual|anual|trimestral|semestral)(?:mente)?\b|"
            rf"\bcada (?:\w+ )?"
            rf"{_SPAN}|\b(?:nunca|siempre|una vez|dos veces|\w+ veces|inmediatamente)\b|\b(?:1[0-9]|20)\d\d\b|"
            rf"\b(?:hasta|desde)\b"
        ),
        Asked.PRICE: Wording(
            r"[€$£]|\b(?:euros?|céntimos?|dólares|dólar|pesos?|libras?|gratis|gratuit[oa]s?|sin (?:coste|cargo|"
            r"recargo)|millones?|"
            r"por ciento)\b|%"
        ),
        Asked.WHO: Wording(
            r"(?<=[\w,;:)(«“\"] )[A-ZÁÉÍÓÚÑ][\w’'-]+|\b[A-ZÁÉÍÓÚÑ][\w’'-]+ (?:(?:de|del|la|los|"
            r"y) )*[A-ZÁÉÍÓÚÑ][\w’'-]+|\b(?:Sr|Sra|Dr|Dra)\.|"
            r"\b(?i:director|jef[ea]|responsable|encargad[oa]|gerente|presidente|rey|reina|emperador|ministr[oa]|"
            r"departamento|"
            r"equipo|comité|comisión|gobierno|parlamento|recepción|consejo)(?:es|as?|s)?\b",
            ignores_case=False,
        ),
        Asked.WHERE: Wording(
            r"\b(?:[Ee]n|[Aa]|[Aa]l|[Dd]el?|[Dd]esde|[Hh]acia|[Jj]unto a|[Ff]rente a|[Dd]etrás de|[Dd]elante de|"
            r"[Ee]ntre|[Bb]ajo|[Pp]or|[Cc]erca de) "
            r"(?:el |la |los |las |su |sus |un |una )?\w{3,}",
            ignores_case=False,
        ),
        Asked.REASON: Wording(
            r"\b(?:porque|ya que|debido|pues|puesto que|dado que|por (?:lo|ello|eso|esto)|para (?:que|\w+r)\b|a causa|"
            r"motivo|razón|"
            r"causa|gracias a|como|por)\b"
        ),
        Asked.YES_NO: Wording(
            r"\b(?:no|puede|pueden|debe|deben|nunca|siempre|sólo|solo|está permitido|prohibid[oa]|permit\w+|sí|sin|"
            r"salvo)\b"
        ),
    },
    leaning=Wording(
        r"^(?:Él|Ella|Ellos|Ellas|Est[eao]s?|Es[eao]s?|Su|Sus|Se|También|Además|Por (?:ello|eso|tanto)|Sin embargo|"
        r"Pero|Entonces|"
        r"Así|Luego|Ambos|Ambas|Después)\b",
        ignores_case=False,
    ),
    was=Wording(r"\b(?:fue|fueron|era|eran|ha sido|han sido)\b|\b\w{3,}(?:ó|aron|ieron)\b"),
    planned=Wording(r"\b(?:\w{2,}(?:rá|rán)|previst[oa]s?|van? a \w+r)\b"),
    negation=Wording(r"\b(?:no|nunca|jamás|sin|ningún|ninguna|ninguno|nadie|nada|ni|tampoco|prohibid[oa]s?)\b"),
    months=("enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre",
            "noviembre", "diciembre"),
    conditions=Wording(r"\b(?:si|cuando|después|antes|hasta|durante|con|sin|salvo|excepto|en(?! \d))\b"),
    limits=Wording(r"\b(?:que|antes|si|sin|salvo|excepto|pero|sino|solo)\b"),
    asks_which=Wording(r"¿?(?:qué|cuál(?:es)?|quién(?:es)?|dónde) "),
    asks_leave=Wording(r"\bpermitido\b"),
    refused=Wording(r"no"),
    more_days=Wording(r"\b(?:todos los días|cada día|fin de semana|excepto|laborables)\b"),
    numbers={
        "dos": "two", "tres": "3", "cuatro": "four", "cinco": "five", "seis": "six", "siete": "seven", "ocho": "8",
        "nueve": "nine", "diez": "ten", "quince": "15", "veinte": "twenty", "treinta": "thirty", "día": "day",
        "días": "days", "semana": "week", "semanas": "weeks", "mes": "mo.", "meses": "month", "año": "yr",
        "años": "yrs", "hora": "hour", "horas": "hours", "minuto": "minute", "minutos": "minutes", "metro": "meter",
        "metros": "meters", "euro": "euro", "euros": "euros", "cada": "each",
    },
    aside=Wording(r"\b(?:todos los días|cada día|siempre|horas?)\b"),
    definition=Wording(
        r"^¿? ?qué (?:es|son|significa|se entiende por|quiere decir) (?:un[oa]? |el |la |los |"
        r"las )?(?P<term>[^?]{2,60}?)\W*$"
    ),
    defining=r"(?:es|son|significan?|se llama|se entiende|designan?|consiste)\b",
    because=Wording(
        r"\b(?:porque|ya que|debid[oa]s? a|se debe a|puesto que|dado que|a causa de|por (?:eso|ello)|gracias a|"
        r"motivo|razón)\b|\bcausad|, pues\b"
    ),
    joining=Wording(r"[,;\n]| [yeou] "),
    measures=(
        (Wording(r"\bcu[áa]nto pesan?\b|\bpeso\b"), WEIGHT),
        (Wording(r"\bpotencia\b"), POWER),
        (Wording(r"\btemperatura\b"), WARMTH),
        (Wording(r"\bnivel de ruido\b"), LOUDNESS),
        (Wording(r"\banchura\b|\blongitud\b|\bdiámetro\b|\bgrosor\b|\bespesor\b"), LENGTH),
    ),
    measured_by={"larg": ("longitud",), "alt": ("altura",)},
)  # fmt: skip
