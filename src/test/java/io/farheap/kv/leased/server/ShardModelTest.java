package io.farheap.kv.leased.server;

import static io.farheap.kv.model.ModelOperation.add;
import static io.farheap.kv.model.ModelOperation.delete;
import static io.farheap.kv.model.ModelOperation.get;
import static io.farheap.kv.model.ModelOperation.set;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.farheap.testing.ChoiceExplorer;
import io.farheap.testing.Effort;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * All interleavings of a shard's stores with READs of its blocks: each answer is right. Without any one of the rules
 * some answer is not, so the model is able to find that.
 */
class ShardModelTest {

    private static final int A = 0;
    private static final int B = 1;
    private static final int MOST_STATES = 100_000;
    private static final int MOST_STATES_OF_FULL = 400_000;

    private static void assertNothingWrong(ShardScenario scenario) {
        ChoiceExplorer.Exploration found = ChoiceExplorer.explore(MOST_STATES, scenario);
        System.out.println(found);
        assertTrue(found.wrong().isEmpty() && found.complete(), found::toString);
    }

    private static void assertWrong(ShardScenario scenario) {
        ChoiceExplorer.Exploration found = ChoiceExplorer.explore(MOST_STATES, scenario);
        System.out.println(found);
        assertFalse(found.wrong().isEmpty(), found::toString);
    }

    private static void assertNeeds(Supplier<ShardScenario> scenario, ShardRule... rules) {
        assertNothingWrong(scenario.get());
        assertWrong(scenario.get().without(rules));
    }

    private static ShardScenario getsAndSets() {
        return new ShardScenario(false).stored(1).client(get(A), get(A)).client(set(A, 2), set(A, 3));
    }

    @Test
    void anAnswerMustComeBehindItsMarks() {
        assertNeeds(ShardModelTest::getsAndSets, ShardRule.MARKS_BEFORE_ANSWERS);
    }

    @Test
    void aMarkMustStay() {
        assertNeeds(ShardModelTest::getsAndSets, ShardRule.MARKS_STAY);
    }

    private static ShardScenario reuse() {
        return new ShardScenario(false)
                .stored(1)
                .passing(1)
                .client(get(A), get(A))
                .client(delete(A), set(B, 3));
    }

    /** A clock that stands still reads what is being used again. */
    @Test
    void withoutChecksAClientsClockMustRun() {
        assertNothingWrong(reuse().without(ShardRule.COPIES_ARE_CHECKED));
        assertWrong(reuse().without(ShardRule.COPIES_ARE_CHECKED, ShardRule.CLOCKS_RUN));
    }

    /** The server uses a block again at once. */
    @Test
    void withoutChecksABlockMustStayUntilItsLeasesAreOver() {
        assertWrong(reuse().without(ShardRule.COPIES_ARE_CHECKED, ShardRule.LEASES_ARE_KEPT));
    }

    @Test
    void withoutChecksAReadMustEndWithinTheLease() {
        assertNothingWrong(reuse().without(ShardRule.COPIES_ARE_CHECKED));
        assertWrong(reuse().without(ShardRule.COPIES_ARE_CHECKED, ShardRule.LEASED_AT_COMPLETION));
    }

    @Test
    void withoutChecksATermMustBeginAtTheCall() {
        Supplier<ShardScenario> scenario = () -> new ShardScenario(false)
                .stored(1)
                .passing(1)
                .client(delete(A), set(B, 3))
                .client(get(A), get(A))
                .without(ShardRule.COPIES_ARE_CHECKED);
        assertNeeds(scenario, ShardRule.TERMS_BEGIN_AT_THE_CALL);
    }

    /** Leases buy speed, not truth. */
    @Test
    void withChecksNothingIsWrongWhateverClocksDo() {
        assertNothingWrong(reuse().without(ShardRule.CLOCKS_RUN));
        assertNothingWrong(reuse().without(ShardRule.LEASED_AT_COMPLETION, ShardRule.CLOCKS_RUN));
        assertNothingWrong(reuse().without(ShardRule.TERMS_BEGIN_AT_THE_CALL));
        assertNothingWrong(reuse().without(ShardRule.LEASES_ARE_KEPT));
    }

    @Test
    void noIncarnationMustComeBack() {
        assertNeeds(
                () -> new ShardScenario(false)
                        .stored(1)
                        .passing(1)
                        .client(get(A))
                        .client(set(A, 2), set(A, 3))
                        .without(ShardRule.CLOCKS_RUN),
                ShardRule.INCARNATIONS_GROW);
    }

    @Test
    void aPointerMustGoWithItsOpening() {
        assertNeeds(
                () -> new ShardScenario(false)
                        .restarting()
                        .stored(1)
                        .client(get(A), get(A))
                        .client(set(A, 2)),
                ShardRule.POINTERS_ARE_OF_AN_OPENING);
    }

    @Test
    void aMarkedEntryMustBeAnAbsentKey() {
        assertNeeds(
                () -> new ShardScenario(false)
                        .withDeaths(1)
                        .client(set(A, 1), set(A, 2))
                        .client(delete(A), get(A)),
                ShardRule.MARKED_ENTRIES_ARE_ABSENT);
    }

    @Test
    void aCallMustBeCarriedOutOnce() {
        assertNeeds(
                () -> new ShardScenario(false)
                        .losingAnswers(1)
                        .client(set(A, 1))
                        .client(get(A), set(A, 2), get(A)),
                ShardRule.CALLS_ARE_CARRIED_OUT_ONCE);
    }

    /** Some of a value that was given up comes while the server copies another one out of the same part of the area. */
    @Test
    void whatIsSummedMustBeTheCopies() {
        assertNeeds(
                () -> new ShardScenario(true).givingUp(1).client(set(A, 1), set(A, 2), get(A)),
                ShardRule.COPIES_ARE_SUMMED);
    }

    @Test
    void aPieceMustBeOfItsIndex() {
        assertNeeds(
                () -> new ShardScenario(true)
                        .stored(1)
                        .passing(1)
                        .client(get(A))
                        .client(delete(A), set(A, 2)),
                ShardRule.PIECES_ARE_CHECKED);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("scenarios")
    void withAllRulesEveryAnswerIsRight(String name, ShardScenario scenario) {
        assertNothingWrong(scenario);
    }

    static Stream<Arguments> scenarios() {
        return Stream.of(
                arguments(
                        "a set and a delete, and the thread dies",
                        new ShardScenario(false)
                                .withDeaths(1)
                                .client(get(A), get(A))
                                .client(set(A, 1), set(A, 2), delete(A))),
                arguments(
                        "adds whose answers are lost",
                        new ShardScenario(false)
                                .losingAnswers(Effort.either(1, 2))
                                .withDeaths(1)
                                .client(add(A, 1), delete(A))
                                .client(add(A, 2), get(A))),
                arguments(
                        "a long value is stored while the thread dies and an answer is lost",
                        new ShardScenario(true)
                                .withDeaths(1)
                                .losingAnswers(1)
                                .client(set(A, 1))
                                .client(get(A))));
    }

    /** More of the same, as far as some minutes go. */
    @Tag("full")
    @ParameterizedTest(name = "{0}")
    @MethodSource("deepScenarios")
    void withAllRulesEveryAnswerIsRightInDeepScenarios(String name, ShardScenario scenario) {
        ChoiceExplorer.Exploration found = ChoiceExplorer.explore(MOST_STATES_OF_FULL, scenario);
        System.out.println(found);
        assertTrue(found.wrong().isEmpty(), found::toString);
    }

    static Stream<Arguments> deepScenarios() {
        return Stream.of(
                arguments(
                        "three clients, time that passes, a death and a lost answer",
                        new ShardScenario(false)
                                .stored(1)
                                .passing(2)
                                .withDeaths(1)
                                .losingAnswers(1)
                                .client(get(A), get(A), get(A))
                                .client(set(A, 2), delete(A), set(B, 3))
                                .client(add(A, 4), get(B))),
                arguments(
                        "three clients, whose clocks stand still",
                        new ShardScenario(false)
                                .stored(1)
                                .passing(3)
                                .without(ShardRule.CLOCKS_RUN, ShardRule.LEASED_AT_COMPLETION)
                                .client(get(A), get(A), get(A))
                                .client(set(A, 2), set(B, 3), set(A, 4))
                                .client(get(A), delete(A), get(B))),
                arguments(
                        "long values, two of them given up",
                        new ShardScenario(true)
                                .givingUp(2)
                                .losingAnswers(1)
                                .client(set(A, 1), set(A, 2), set(A, 3))
                                .client(get(A), get(A))),
                arguments(
                        "long values are replaced while they are read, and the thread dies",
                        new ShardScenario(true)
                                .stored(1)
                                .passing(1)
                                .withDeaths(1)
                                .client(get(A), get(A))
                                .client(set(A, 2), set(A, 3))));
    }
}
