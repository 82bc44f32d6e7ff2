"""What a run tells about itself, in the language of the question: one row a language, and English where there is none.

The reasons stay codes (`AbstentionReason`); only their explanations are worded here.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass

from agentic_rag.language.words.word_tables import table_of


class Message(enum.Enum):
    """The messages, by their English wording; `{named}` stands for words of the question."""

    NOTHING_FOUND = "No passage of this workspace has anything to do with the question."
    NOT_STATED = "The nearest passages are about the subject, but do not state what the question asks for."
    NOT_ESTABLISHED = "This is the nearest text. It is not established that it answers the question."
    OF_ANOTHER = "This is the nearest text. It is not established that it is about {named}."
    PART_OF_LIST = "This is a part of a list. The documents have, or may have, more that fits the question."
    UNDERSPECIFIED = "The question fits several things. Each is answered; name one of them to get its answer alone."
    TOO_LITTLE = "The nearest passages do not cover what the question asks, so no answer is given from them."
    OTHER_LANGUAGE = (
        "The passages found are in another language than the question, so no answer is given from them. Ask in the "
        "language of the documents."
    )
    MISSING_FACT = "The passages found do not state {named}, so no answer is given from them."
    PARTS_MISSING = "No answer was found for: {named}"
    ALL_REFUSED = "What the passages offered did not pass the self-check, so no answer is given."
    NONE_SUPPORTED = "No sentence of the answer passed the judge, so no answer is given."
    MODEL_SILENT = "The model did not answer; these are the nearest passages."
    MODEL_UNVERIFIED = "No quote of the model's answer could be verified; these are the nearest passages."
    NOT_IN_PASSAGES = "The nearest passages do not answer the question, says the model that read them."
    NOT_A_QUESTION = "This does not ask for anything that documents could answer. Ask about their content."
    EMPTY_WORKSPACE = "The workspace holds no documents yet. Ingest some, then ask again."
    TOOLS_OFF = "This is a calculation, and tools are switched off for this request."
    OUT_OF_TIME = (
        "The time given for this question ran out before its sources were checked. Allow more time or narrow it."
    )


@dataclass(frozen=True, slots=True)
class RunMessage:
    """A message about a run, with the words of the question that it names."""

    message: Message
    named: str = ""

    def for_question(self, question: str) -> str:
        """The message in the language of the question."""
        table, message = table_of(question), self.message
        rows = WORDINGS.get(table.code) if table is not None else None
        if rows is None:
            return message.value.format(named=self.named)
        if message is Message.MISSING_FACT and _OF_THE_QUESTION.fullmatch(self.named) is None:
            # The rules that find such facts describe some in English.
            message = Message.NOT_STATED
        return rows[message].format(named=self.named)


_OF_THE_QUESTION = re.compile(r"“[^“”]*”|\d+")


def _row(*texts: str) -> Mapping[Message, str]:
    return dict(zip(Message, texts, strict=True))


WORDINGS: Mapping[str, Mapping[Message, str]] = {
    "de": _row(
        "Keine Passage dieses Arbeitsbereichs hat mit der Frage zu tun.",
        "Die nächsten Passagen handeln vom Thema, nennen aber nicht, wonach die Frage fragt.",
        "Dies ist der nächste Text. Es steht nicht fest, dass er die Frage beantwortet.",
        "Dies ist der nächste Text. Es steht nicht fest, dass er {named} betrifft.",
        "Dies ist ein Teil einer Liste. In den Dokumenten steht mehr, was zur Frage passt, oder es kann dort stehen.",
        "Die Frage passt auf mehrere Dinge. Jedes ist beantwortet; nennen Sie eines, um nur dessen Antwort zu lesen.",
        "Die nächsten Passagen decken nicht ab, wonach gefragt ist; daher wird aus ihnen keine Antwort gegeben.",
        "Die gefundenen Passagen sind in einer anderen Sprache als die Frage; daher wird aus ihnen keine Antwort "
        "gegeben. Fragen Sie in der Sprache der Dokumente.",
        "Die gefundenen Passagen nennen {named} nicht; daher wird aus ihnen keine Antwort gegeben.",
        "Keine Antwort wurde gefunden auf: {named}",
        "Was die Passagen boten, bestand die Selbstprüfung nicht; daher wird keine Antwort gegeben.",
        "Kein Satz der Antwort bestand die Prüfung durch das Modell; daher wird keine Antwort gegeben.",
        "Das Modell hat nicht geantwortet; dies sind die nächsten Passagen.",
        "Kein Zitat in der Antwort des Modells ließ sich bestätigen; dies sind die nächsten Passagen.",
        "Die nächsten Passagen beantworten die Frage nicht, sagt das Modell, das sie gelesen hat.",
        "Dies fragt nach nichts, was Dokumente beantworten könnten. Fragen Sie nach ihrem Inhalt.",
        "Der Arbeitsbereich enthält noch keine Dokumente. Fügen Sie welche hinzu und fragen Sie noch einmal.",
        "Dies ist eine Rechnung, und Werkzeuge sind für diese Anfrage abgeschaltet.",
        "Die Zeit für diese Frage endete vor der Prüfung der Quellen. Geben Sie mehr Zeit oder fragen Sie genauer.",
    ),
    "fr": _row(
        "Aucun passage de cet espace de travail n’a de rapport avec la question.",
        "Les passages les plus proches traitent du sujet, mais n’indiquent pas ce que la question demande.",
        "Voici le texte le plus proche. Il n’est pas établi qu’il réponde à la question.",
        "Voici le texte le plus proche. Il n’est pas établi qu’il concerne {named}.",
        "Voici une partie d’une liste. Les documents ont, ou peuvent avoir, d’autres éléments qui répondent "
        "à la question.",
        "La question convient à plusieurs choses. Chacune a sa réponse ; nommez-en une pour n’obtenir que la sienne.",
        "Les passages les plus proches ne couvrent pas ce qui est demandé ; aucune réponse n’en est donc tirée.",
        "Les passages trouvés sont dans une autre langue que la question ; aucune réponse n’en est donc tirée. Posez "
        "la question dans la langue des documents.",
        "Les passages trouvés n’indiquent pas {named} ; aucune réponse n’en est donc tirée.",
        "Aucune réponse n’a été trouvée pour : {named}",
        "Ce que les passages offraient n’a pas passé l’autocontrôle ; aucune réponse n’est donc donnée.",
        "Aucune phrase de la réponse n’a été confirmée par le modèle qui juge ; aucune réponse n’est donc donnée.",
        "Le modèle n’a pas répondu ; voici les passages les plus proches.",
        "Aucune citation de la réponse du modèle n’a pu être vérifiée ; voici les passages les plus proches.",
        "Les passages les plus proches ne répondent pas à la question, selon le modèle qui les a lus.",
        "Ceci ne demande rien à quoi des documents pourraient répondre. Posez une question sur leur contenu.",
        "L’espace de travail ne contient encore aucun document. Ajoutez-en, puis posez la question de nouveau.",
        "Ceci est un calcul, et les outils sont désactivés pour cette requête.",
        "Le temps accordé à cette question s’est écoulé avant la vérification des sources. Accordez plus de temps ou "
        "précisez la question.",
    ),
    "es": _row(
        "Ningún pasaje de este espacio de trabajo tiene que ver con la pregunta.",
        "Los pasajes más cercanos tratan del tema, pero no indican lo que la pregunta pide.",
        "Este es el texto más cercano. No está establecido que responda a la pregunta.",
        "Este es el texto más cercano. No está comprobado que trate de {named}.",
        "Esta es una parte de una lista. Los documentos tienen, o pueden tener, más que se ajusta a la pregunta.",
        "La pregunta se ajusta a varias cosas. Cada una tiene su respuesta; nombre una para obtener solo la suya.",
        "Los pasajes más cercanos no cubren lo que se pregunta, por lo que no dan respuesta.",
        "Los pasajes encontrados están en otro idioma que la pregunta, por lo que no dan respuesta. Pregunte en el "
        "idioma de los documentos.",
        "Los pasajes encontrados no indican {named}, por lo que no dan respuesta.",
        "No se encontró respuesta para: {named}",
        "Lo que ofrecían los pasajes no superó la autocomprobación, por lo que no se da ninguna respuesta.",
        "El modelo que juzga no confirmó ninguna frase de la respuesta, por lo que no se da ninguna.",
        "El modelo no respondió; estos son los pasajes más cercanos.",
        "No se pudo verificar ninguna cita de la respuesta del modelo; estos son los pasajes más cercanos.",
        "Los pasajes más cercanos no responden a la pregunta, según el modelo que los leyó.",
        "Esto no pide nada que unos documentos puedan responder. Pregunte por su contenido.",
        "El espacio de trabajo aún no contiene documentos. Añada algunos y pregunte de nuevo.",
        "Esto es un cálculo, y las herramientas están desactivadas para esta solicitud.",
        "El tiempo concedido a esta pregunta se agotó antes de comprobar sus fuentes. Conceda más tiempo o acote la "
        "pregunta.",
    ),
    "it": _row(
        "Nessun passaggio di questo spazio di lavoro riguarda la domanda.",
        "I passaggi più vicini trattano l’argomento, ma non indicano ciò che la domanda chiede.",
        "Questo è il testo più vicino. Non è accertato che risponda alla domanda.",
        "Questo è il testo più vicino. Non è accertato che riguardi {named}.",
        "Questa è una parte di un elenco. I documenti hanno, o possono avere, altro che risponde alla domanda.",
        "La domanda si adatta a più cose. Ognuna ha la sua risposta; ne nomini una per ottenere solo la sua.",
        "I passaggi più vicini non coprono ciò che si chiede; perciò non se ne ricava alcuna risposta.",
        "I passaggi trovati sono in una lingua diversa da quella della domanda; perciò non se ne ricava alcuna "
        "risposta. Chieda nella lingua dei documenti.",
        "I passaggi trovati non indicano {named}; perciò non se ne ricava alcuna risposta.",
        "Nessuna risposta trovata per: {named}",
        "Ciò che i passaggi offrivano non ha superato l’autocontrollo; perciò non si dà alcuna risposta.",
        "Il modello che giudica non ha confermato nessuna frase della risposta; perciò non se ne dà alcuna.",
        "Il modello non ha risposto; questi sono i passaggi più vicini.",
        "Nessuna citazione della risposta del modello è stata verificata; questi sono i passaggi più vicini.",
        "I passaggi più vicini non rispondono alla domanda, secondo il modello che li ha letti.",
        "Questo non chiede nulla a cui dei documenti possano rispondere. Chieda del loro contenuto.",
        "Lo spazio di lavoro non contiene ancora documenti. Ne aggiunga alcuni, poi chieda di nuovo.",
        "Questo è un calcolo, e gli strumenti sono disattivati per questa richiesta.",
        "Il tempo concesso a questa domanda è finito prima che le fonti fossero verificate. Conceda più tempo o "
        "restringa la domanda.",
    ),
    "pt": _row(
        "Nenhuma passagem deste espaço de trabalho tem a ver com a pergunta.",
        "As passagens mais próximas tratam do assunto, mas não indicam o que a pergunta pede.",
        "Este é o texto mais próximo. Não está estabelecido que responda à pergunta.",
        "Este é o texto mais próximo. Não está comprovado que trate de {named}.",
        "Esta é uma parte de uma lista. Os documentos têm, ou podem ter, mais que corresponde à pergunta.",
        "A pergunta serve para várias coisas. Cada uma tem a sua resposta; nomeie uma para obter só a dela.",
        "As passagens mais próximas não cobrem o que se pergunta, por isso não se dá nenhuma resposta a partir delas.",
        "As passagens encontradas não estão na língua da pergunta, por isso não se dá nenhuma resposta a partir "
        "delas. Pergunte na língua dos documentos.",
        "As passagens encontradas não indicam {named}, por isso não se dá nenhuma resposta a partir delas.",
        "Não se encontrou resposta para: {named}",
        "O que as passagens ofereciam não passou na verificação própria, por isso não se dá nenhuma resposta.",
        "O modelo que avalia não confirmou nenhuma frase da resposta, por isso não se dá nenhuma.",
        "O modelo não respondeu; estas são as passagens mais próximas.",
        "Nenhuma citação da resposta do modelo pôde ser verificada; estas são as passagens mais próximas.",
        "As passagens mais próximas não respondem à pergunta, segundo o modelo que as leu.",
        "Isto não pede nada a que documentos possam responder. Pergunte pelo conteúdo deles.",
        "O espaço de trabalho ainda não contém documentos. Adicione alguns e pergunte de novo.",
        "Isto é um cálculo, e as ferramentas estão desligadas para este pedido.",
        "O tempo dado a esta pergunta acabou antes da verificação das fontes. Dê mais tempo ou precise a pergunta.",
    ),
    "nl": _row(
        "Geen passage van deze werkruimte heeft met de vraag te maken.",
        "De dichtstbijzijnde passages gaan over het onderwerp, maar vermelden niet wat de vraag vraagt.",
        "Dit is de dichtstbijzijnde tekst. Het staat niet vast dat die de vraag beantwoordt.",
        "Dit is de dichtstbijzijnde tekst. Het staat niet vast dat hij over {named} gaat.",
        "Dit is een deel van een lijst. In de documenten staat meer, of kan meer staan, dat bij de vraag past.",
        "De vraag past op meerdere dingen. Elk is beantwoord; noem er een om alleen dat antwoord te krijgen.",
        "De dichtstbijzijnde passages dekken niet wat wordt gevraagd; daarom wordt er geen antwoord uit gegeven.",
        "De gevonden passages zijn in een andere taal dan de vraag; daarom wordt er geen antwoord uit gegeven. "
        "Vraag in de taal van de documenten.",
        "De gevonden passages vermelden {named} niet; daarom wordt er geen antwoord uit gegeven.",
        "Er is geen antwoord gevonden op: {named}",
        "Wat de passages boden, doorstond de zelfcontrole niet; daarom wordt geen antwoord gegeven.",
        "Het model dat oordeelt, bevestigde geen zin van het antwoord; daarom wordt er geen gegeven.",
        "Het model heeft niet geantwoord; dit zijn de dichtstbijzijnde passages.",
        "Geen citaat uit het antwoord van het model kon worden bevestigd; dit zijn de dichtstbijzijnde passages.",
        "De dichtstbijzijnde passages beantwoorden de vraag niet, zegt het model dat ze heeft gelezen.",
        "Dit vraagt niets wat documenten kunnen beantwoorden. Vraag naar hun inhoud.",
        "De werkruimte bevat nog geen documenten. Voeg er toe en vraag het opnieuw.",
        "Dit is een berekening, en hulpmiddelen zijn voor dit verzoek uitgeschakeld.",
        "De tijd voor deze vraag was om voordat de bronnen waren gecontroleerd. Geef meer tijd of vraag gerichter.",
    ),
    "pl": _row(
        "Żaden fragment w tym obszarze roboczym nie dotyczy pytania.",
        "Najbliższe fragmenty dotyczą tematu, ale nie podają tego, o co chodzi w pytaniu.",
        "To jest najbliższy tekst. Nie ustalono, że odpowiada on na pytanie.",
        "To jest najbliższy tekst. Nie jest pewne, czy dotyczy {named}.",
        "To jest część listy. Dokumenty zawierają lub mogą zawierać więcej pozycji pasujących do pytania.",
        "Pytanie pasuje do kilku rzeczy. Na każdą jest odpowiedź; proszę wskazać jedną z nich.",
        "Najbliższe fragmenty nie obejmują tego, o co chodzi w pytaniu, więc nie podano na ich podstawie odpowiedzi.",
        "Znalezione fragmenty są w innym języku niż pytanie, więc nie podano na ich podstawie odpowiedzi. Proszę "
        "pytać w języku dokumentów.",
        "Znalezione fragmenty nie podają: {named}, więc nie podano na ich podstawie odpowiedzi.",
        "Nie znaleziono odpowiedzi na: {named}",
        "To, co zawierały fragmenty, nie przeszło samokontroli, więc nie podano odpowiedzi.",
        "Model oceniający nie potwierdził żadnego zdania odpowiedzi, więc jej nie podano.",
        "Model nie odpowiedział; oto najbliższe fragmenty.",
        "Nie udało się potwierdzić żadnego cytatu z odpowiedzi modelu; oto najbliższe fragmenty.",
        "Najbliższe fragmenty nie odpowiadają na pytanie – tak ocenił model, który je przeczytał.",
        "To nie jest pytanie, na które mogłyby odpowiedzieć dokumenty. Proszę pytać o ich treść.",
        "W obszarze roboczym nie ma jeszcze dokumentów. Proszę dodać dokumenty i zapytać ponownie.",
        "To jest obliczenie, a narzędzia są wyłączone dla tego zapytania.",
        "Czas na to pytanie upłynął, zanim sprawdzono źródła. Proszę dać więcej czasu lub zawęzić pytanie.",
    ),
    "ru": _row(
        "Ни один фрагмент в этом рабочем пространстве не относится к вопросу.",
        "Ближайшие фрагменты касаются темы, но не сообщают того, о чём спрашивается.",
        "Это ближайший текст. Не установлено, что он отвечает на вопрос.",
        "Это ближайший текст. Не установлено, что он относится к {named}.",
        "Это часть списка. В документах есть или могут быть и другие пункты, подходящие к вопросу.",
        "Вопрос подходит к нескольким предметам. На каждый дан ответ; назовите один, чтобы получить только его ответ.",
        "Ближайшие фрагменты не охватывают того, о чём спрашивается, поэтому ответ по ним не даётся.",
        "Найденные фрагменты написаны не на языке вопроса, поэтому ответ по ним не даётся. Спросите на языке "
        "документов.",
        "В найденных фрагментах не указано: {named}, поэтому ответ по ним не даётся.",
        "Не найден ответ на: {named}",
        "То, что содержали фрагменты, не прошло самопроверку, поэтому ответ не даётся.",
        "Модель-судья не подтвердила ни одного предложения ответа, поэтому ответ не даётся.",
        "Модель не ответила; вот ближайшие фрагменты.",
        "Ни одну цитату из ответа модели не удалось подтвердить; вот ближайшие фрагменты.",
        "Ближайшие фрагменты не отвечают на вопрос, сообщает прочитавшая их модель.",
        "Это не вопрос, на который могли бы ответить документы. Спросите об их содержании.",
        "В рабочем пространстве пока нет документов. Добавьте документы и спросите снова.",
        "Это вычисление, а инструменты для этого запроса отключены.",
        "Время на этот вопрос истекло до проверки источников. Дайте больше времени или уточните вопрос.",
    ),
}
"""By language (ISO 639-1), in the order of `Message`; other languages are answered in English."""
