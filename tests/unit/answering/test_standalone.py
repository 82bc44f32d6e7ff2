"""Follow-up questions written out, and questions that must stay as they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.plan import AnswerType
from agentic_rag.answering.query.standalone import (
    LONGEST_FOLLOW_UP,
    WEIGHT_OF_EARLIER,
    make_standalone,
    weigh_follow_up,
)
from agentic_rag.answering.question import MAX_QUESTION_CHARACTERS, Turn

FOUNDED = Turn("Who founded Brellan Marine?", "Brellan Marine was founded by Ida Korsvik in Stavern [1].")
REVENUE = Turn("What was Brellan Marine's revenue in 2020?", "Revenue was 5 million euros in 2020 [1].")
LIMIT = Turn(
    "What is the wave limit for crew transfer?",
    "Crew transfer is suspended when the significant wave height exceeds 1.5 metres [1].",
)
BORN = Turn("Where was Ida Korsvik born?", "Ida Korsvik was born in Tønsberg in 1961 [1].")
CHIEF = Turn("Who is the CEO of Brellan Marine?", "The CEO of Brellan Marine is Jonas Eik [1].")
STAFF = Turn("How many people does Brellan Marine employ in Norway?", "It employs 40 people there [1].")
SUSPENDED = Turn("How is crew transfer suspended?", "By radio, on channel 12 [1].")
VESSEL = Turn("Which vessel did Brellan Marine build in 2010?", "In 2010 the yard delivered the Hvalfisk [1].")
VESSELS = Turn("Which vessels were built in Stavern?", "The yard built the Hvalfisk and later the Nordkaper [1].")
PARKING = Turn("Can visitors park on site?", "Visitors park behind the Otter Voe gate house [1].")
HUSBAND = Turn("Who was the husband of Ida Korsvik?", "Her husband was Leif Aune [1].")
OFFICE = Turn("Where is the head office of Brellan Marine?", "The head office is in Larvik [1].")
WROTE = Turn("Who wrote Tides of Iron?", "Tides of Iron was written by Mara Selden in 1987 [1].")
FORMED = Turn("When was Brellan Marine founded?", "It was founded in 1994 [1].")
BEARING = Turn("At which temperature does the bearing alarm trip?", "The bearing alarm trips at 95 °C [1].")

FOLLOWING = [
    # A question word alone asks the same thing another way.
    (FOUNDED, "And when?"),
    (FOUNDED, "Why?"),
    (FOUNDED, "In which city?"),
    (FOUNDED, "Which year?"),
    (WROTE, "When?"),
    (BORN, "When?"),
    (FORMED, "By whom?"),
    (STAFF, "And where?"),
    (PARKING, "Where?"),
    (SUSPENDED, "By whom?"),
    (BEARING, "Why?"),
    (FOUNDED, "Who else?"),
    (CHIEF, "Since when?"),
    (LIMIT, "And who decides?"),
    (FOUNDED, "Tell me more."),
    # Another time, name or phrase takes the place of the one that was asked for.
    (REVENUE, "And the profit?"),
    (STAFF, "What about Denmark?"),
    (LIMIT, "And the wind limit?"),
    (CHIEF, "And the CFO?"),
    (PARKING, "What about employees?"),
    # Pronouns, by what they can stand for.
    (FOUNDED, "When was it founded?"),
    (FOUNDED, "Where was she born?"),
    (FOUNDED, "Who lives there?"),
    (FOUNDED, "What is the name of its CEO?"),
    (FOUNDED, "Did it acquire Corrand Tidal?"),
    (FOUNDED, "How many people do they employ?"),
    (FOUNDED, "And its revenue?"),
    (CHIEF, "How old is he?"),
    (CHIEF, "Where is their head office?"),
    (CHIEF, "When was it founded?"),
    (HUSBAND, "Where was he born?"),
    (HUSBAND, "And where was she born?"),
    (BORN, "How large is it?"),
    (BORN, "Who else was born that year?"),
    (BORN, "What did she study?"),
    (OFFICE, "How many people work there?"),
    (LIMIT, "And who may change it?"),
    (LIMIT, "Does it apply to visitors?"),
    (VESSEL, "How long is it?"),
    (VESSELS, "Are they still in service?"),
    (REVENUE, "Was it higher than in 2019?"),
    (REVENUE, "Who is its CFO?"),
    # "That" with its noun, or for the whole matter.
    (FOUNDED, "What does that company sell?"),
    (BORN, "Which country is that city in?"),
    (LIMIT, "Who approved that limit?"),
    (SUSPENDED, "Who decides it?"),
    (REVENUE, "Why is that?"),
    (VESSELS, "Which one is older?"),
    # It says too little by itself.
    (LIMIT, "Are there any exceptions?"),
]

SUBSTITUTED = [
    (REVENUE, "And in 2021?", "What was Brellan Marine's revenue in 2021?"),
    (REVENUE, "What about 2019?", "What was Brellan Marine's revenue in 2019?"),
    (REVENUE, "How about Q3?", "What was Brellan Marine's revenue in Q3 2020?"),
    (REVENUE, "What about Corrand Tidal?", "What was Corrand Tidal's revenue in 2020?"),
    (STAFF, "And in 2021?", "How many people does Brellan Marine employ in Norway in 2021?"),
    (STAFF, "And last year?", "How many people does Brellan Marine employ in Norway last year?"),
    (STAFF, "And in Leeds?", "How many people does Brellan Marine employ in Leeds?"),
    (FOUNDED, "And Corrand Tidal?", "Who founded Corrand Tidal?"),
    (LIMIT, "And for lifting?", "What is the wave limit for lifting?"),
]

UNCHANGED = [
    # New matters with names of their own.
    (FOUNDED, "Who founded Corrand Tidal?"),
    (FOUNDED, "When did Ida Korsvik win her first prize?"),
    (FOUNDED, "Did Corrand Tidal double its revenue?"),
    (REVENUE, "What was the revenue of Corrand Tidal in 2021?"),
    (BORN, "Where did Leif Aune live while he wrote the report?"),
    (LIMIT, "And what is the limit for lifting with cranes?"),
    (LIMIT, "So what is the policy on annual leave?"),
    (FOUNDED, "When Brellan Marine bought Corrand Tidal, did it pay in cash?"),
    # Plain questions without names.
    (FOUNDED, "What is the limit for visitors?"),
    (FOUNDED, "Why is the sky blue?"),
    (FOUNDED, "How many days of annual leave do employees get?"),
    (FOUNDED, "What did the company announce?"),
    (LIMIT, "What does the handbook say about smoking?"),
    (LIMIT, "Which documents mention asbestos?"),
    (LIMIT, "List the steps for isolating a pump."),
    (LIMIT, "isolation audit checklist"),
    # Pronouns that the question itself explains.
    (FOUNDED, "What is an isolation permit and who signs it?"),
    (FOUNDED, "Which company sold its shares?"),
    (FOUNDED, "Do employees get their money back?"),
    (FOUNDED, "How does a pump behave when it runs dry?"),
    (FOUNDED, "If a badge is lost, who replaces it?"),
    (FOUNDED, "When must the operator renew his certificate?"),
    # Words that only look as if they pointed back.
    (FOUNDED, "Is it possible to park on site?"),
    (FOUNDED, "How long does it take to charge a battery?"),
    (FOUNDED, "What happens when it rains?"),
    (FOUNDED, "Is there a limit for visitors?"),
    (FOUNDED, "Does the rule that visitors sign in apply on Sundays?"),
    (FOUNDED, "Is it true that visitors may park?"),
    (FOUNDED, "What is planned for this year?"),
    (FOUNDED, "What does this document say about leave?"),
    (FOUNDED, "Who leads the IT department?"),
    (LIMIT, "Why is it hard to know the number of infections?"),
    (LIMIT, "How bad is it to have a lot of credit?"),
    (LIMIT, "If a company says it accepts cards, does it accept all cards?"),
    (LIMIT, "Who was known by his stage name and taught management?"),
    (LIMIT, "how did the young harbour master get her powers"),
    (LIMIT, "Can a fund change the weighting of the assets they track?"),
    (LIMIT, "How is flow about a delta wing different from that on a swept wing?"),
    (LIMIT, "Are results of one method equal to those of the other?"),
    (LIMIT, "Can prices vary in two places at the same time?"),
    (LIMIT, "Frontier markets - is it a good idea to invest in them?"),
    (LIMIT, "How many days of leave are there?"),
    (LIMIT, "When do they open the harbour gates for fishing boats on winter mornings?"),
    # Not questions.
    (FOUNDED, "Thanks!"),
    (FOUNDED, "2 + 2"),
]


@pytest.mark.parametrize(("turn", "question"), FOLLOWING, ids=[one[1] for one in FOLLOWING])
def test_a_question_that_points_back_gets_the_question_before_it(turn: Turn, question: str) -> None:
    found = make_standalone(question, (turn,))
    own, _, earlier = found.partition(" (about: ")
    assert question.lower().rstrip("?. ").endswith(own.lower())
    assert earlier.lower() == turn.question.lower().rstrip("?") + ")?"


@pytest.mark.parametrize(("turn", "question", "expected"), SUBSTITUTED, ids=[one[1] for one in SUBSTITUTED])
def test_a_phrase_takes_the_place_of_its_counterpart(turn: Turn, question: str, expected: str) -> None:
    assert make_standalone(question, (turn,)) == expected


def test_a_follow_up_with_a_time_of_its_own_does_not_bring_the_earlier_one() -> None:
    found = make_standalone("How large was it in 2022?", (REVENUE,))
    assert found == "How large was it in 2022 (about: what was Brellan Marine's revenue)?"


@pytest.mark.parametrize(("turn", "question"), UNCHANGED, ids=[one[1] for one in UNCHANGED])
def test_a_question_that_stands_alone_stays_as_it_is(turn: Turn, question: str) -> None:
    assert make_standalone(question, (turn,)) == question


@pytest.mark.parametrize("question", [one[1] for one in FOLLOWING])
def test_without_a_conversation_nothing_changes(question: str) -> None:
    assert make_standalone(question, ()) == question


def test_a_follow_up_of_a_follow_up_goes_back_to_what_it_was_about() -> None:
    said = (FOUNDED, Turn("And when?", "In 1994 [1]."), Turn("Thanks!", "You are welcome."))
    assert make_standalone("Where?", said) == "Where (about: when; who founded Brellan Marine)?"


def test_what_was_said_last_comes_first() -> None:
    said = (FOUNDED, Turn("Who founded Corrand Tidal?", "Maren Tollack [1]."))
    assert make_standalone("When was it founded?", said) == "When was it founded (about: who founded Corrand Tidal)?"


def test_the_words_of_the_earlier_question_count_less() -> None:
    text = "When was it sold (about: who founded Corrand Tidal)?"
    plain = build_subquery(text, AnswerType.DATE, {})
    weighed = weigh_follow_up(plain)
    assert sum(term.weight for term in weighed.terms) == pytest.approx(1.0)
    before, after = ({term.term: term.weight for term in part.terms} for part in (plain, weighed))
    assert after["sold"] > before["sold"]
    assert after["corrand"] == pytest.approx(after["sold"] * WEIGHT_OF_EARLIER * before["corrand"] / before["sold"])
    alone = build_subquery("When was Corrand Tidal sold?", AnswerType.DATE, {})
    assert weigh_follow_up(alone) is alone


def test_a_long_question_says_what_it_is_about() -> None:
    long = "Why is it " + "so very " * (LONGEST_FOLLOW_UP // 8) + "slow?"
    assert make_standalone(long, (FOUNDED,)) == long


def test_what_is_added_is_no_longer_than_a_follow_up() -> None:
    said = (Turn("Why did " + "the old yard " * 60 + "close?", "Nobody knows [1]."),)
    assert len(make_standalone("When was that?", said)) < LONGEST_FOLLOW_UP + 40


_SAID = """and what about it its they there who when in of the that one which he Acme Berlin 2021 ? , why more is did"""
_WORDS = st.sampled_from(_SAID.split())


@given(st.lists(st.lists(_WORDS, max_size=12).map(" ".join), min_size=2, max_size=5))
def test_any_conversation_gives_a_question_that_can_be_asked(said: list[str]) -> None:
    *earlier, question = said
    history = tuple(Turn(one, "Acme was founded in Berlin [1].") for one in earlier)
    found = make_standalone(question, history)
    assert found == make_standalone(question, history)
    assert len(found) <= MAX_QUESTION_CHARACTERS
    assert make_standalone(question, ()) == question
