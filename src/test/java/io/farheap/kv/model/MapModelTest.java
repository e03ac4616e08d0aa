package io.farheap.kv.model;

import static io.farheap.kv.model.ModelOperation.add;
import static io.farheap.kv.model.ModelOperation.delete;
import static io.farheap.kv.model.ModelOperation.evict;
import static io.farheap.kv.model.ModelOperation.get;
import static io.farheap.kv.model.ModelOperation.move;
import static io.farheap.kv.model.ModelOperation.set;
import static io.farheap.kv.model.ModelOperation.touch;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * All interleavings of some small scenarios. Each case prints how many states it has met, and the shortest history that
 * is wrong, if there is one.
 */
class MapModelTest {

    private static final int A = 0;
    private static final int B = 1;
    private static final int MOST_STATES = 2_000_000;
    private static final int MOST_STATES_OF_FULL = 7_000_000;
    private static final int MOST_STATES_OF_SEED = 300_000;
    private static final int SEEDS = 300;

    /** Of two insertions the older value is back, for good, after a delete that has seen one of their slots alone. */
    @Test
    void readsOfABucketAreNotOneMomentForADelete() {
        assertWrong(withoutRules(insertionsAnd(delete(A))));
    }

    @Test
    void readsOfABucketAreNotOneMomentForAnEviction() {
        assertWrong(withoutRules(insertionsAnd(evict())));
    }

    /** A touch's object that has hidden another's value is removed after the higher slot: a get sees that one early. */
    @Test
    void readsOfABucketAreNotOneMomentForAGet() {
        assertWrong(withoutRules(insertionsAndATouch()));
    }

    @Test
    void withOneSlotForAKeyTheyMayBeOfSeveralMoments() {
        Set<ProtocolRule> rules = Set.of(ProtocolRule.NO_KEY_IN_TWO_SLOTS);
        assertNothingWrong(insertionsAnd(delete(A)).only(rules).withoutPointers(), MOST_STATES);
        assertNothingWrong(insertionsAnd(evict()).only(rules).withoutPointers().withLosses(), MOST_STATES);
        assertNothingWrong(insertionsAndATouch().only(rules).withoutPointers(), MOST_STATES);
    }

    /** Without pointers an update must know the block's key, too: two keys' objects hide one another's insertions. */
    @Test
    void withoutPointersOneSlotForAKeyIsNotEnough() {
        Supplier<ModelScenario> scenario = () -> new ModelScenario(2, 4)
                .object(0, B, 3, 0)
                .withLosses()
                .client(set(A, 1))
                .client(set(A, 2), get(A))
                .client(delete(A))
                .byTable();
        assertNothingWrong(scenario.get(), MOST_STATES);
        assertWrong(scenario.get().without(ProtocolRule.NO_INSERTION_UNSEEN));
    }

    @Test
    void withoutPointersAnUpdateThatKnowsItsKeyIsNotEnough() {
        assertNothingWrong(insertionsAnd(delete(A)).byTable(), MOST_STATES);
        assertWrong(insertionsAnd(delete(A)).byTable().without(ProtocolRule.NO_KEY_IN_TWO_SLOTS));
    }

    private static ModelScenario insertionsAnd(ModelOperation operation) {
        return new ModelScenario(2, 3)
                .client(set(A, 1))
                .client(set(A, 2), get(A))
                .client(operation);
    }

    private static ModelScenario insertionsAndATouch() {
        return new ModelScenario(2, 4)
                .client(set(A, 1))
                .client(set(A, 2), get(A))
                .client(touch(A), get(A));
    }

    private static ModelScenario withoutRules(ModelScenario scenario) {
        return scenario.only(Set.of()).withoutPointers().withLosses();
    }

    /** Each kind of request that takes a block out of its slot marks it first. */
    @ParameterizedTest
    @MethodSource("takers")
    void aSlotMustNotChangeBeforeItsBlockIsMarked(ModelOperation taker, ModelOperation then) {
        ModelScenario scenario = new ModelScenario(1, 3)
                .object(0, A, 1, 0)
                .knows(0, 0)
                .withLosses()
                .client(get(A))
                .client(taker)
                .client(then);
        assertNeeds(ProtocolRule.MARK_BEFORE_SWAP, scenario);
    }

    static Stream<Arguments> takers() {
        return Stream.of(
                arguments(set(A, 2), get(A)),
                arguments(delete(A), get(A)),
                arguments(evict(), get(A)),
                // Crowds A out of the only slot.
                arguments(set(B, 2), get(A)),
                arguments(touch(A), set(A, 2)),
                arguments(move(), set(A, 2)));
    }

    /** By none of the requests that may find it. */
    @ParameterizedTest
    @MethodSource("finders")
    void aSlotMustNotBeEmptiedWhoseBlockCannotBeMarked(ModelOperation finder) {
        ModelScenario scenario = new ModelScenario(1, 2)
                .object(0, A, 1, 0)
                .knows(0, 0)
                .cutOff(0, 1)
                .withLosses()
                .client(get(A))
                .client(finder, get(A));
        assertNeeds(ProtocolRule.WHAT_CANNOT_BE_MARKED_IS_NOT_EMPTIED, scenario);
    }

    static Stream<ModelOperation> finders() {
        return Stream.of(get(A), set(A, 2), add(A, 2), delete(A), touch(A), evict(), set(B, 2));
    }

    @Test
    void aSlotMustSayThatThereAreSomeBeforeAPointerIsKept() {
        ModelScenario scenario = new ModelScenario(1, 2)
                .object(0, A, 1, 0)
                .client(get(A), get(A))
                .client(set(A, 2));
        assertNeeds(ProtocolRule.POINTERS_ARE_ANNOUNCED, scenario);
    }

    @Test
    void aSetMustNotTakeThatForAnotherSet() {
        ModelScenario scenario = new ModelScenario(1, 2)
                .object(0, A, 1, 0)
                .client(get(A), get(A))
                .client(set(A, 2), get(A));
        assertNeeds(ProtocolRule.ANNOUNCED_WORDS_ARE_THE_SAME, scenario);
    }

    @Test
    void aPointerIsNoYoungerThanTheRequestThatHasFoundIt() {
        ModelScenario scenario = new ModelScenario(1, 2)
                .object(0, A, 1, 0)
                .knows(1, 0)
                .withEras(1)
                .client(get(A), get(A))
                .client(set(A, 2), set(A, 3))
                .client(get(A));
        assertNeeds(ProtocolRule.POINTERS_HAVE_THE_ERA_OF_THEIR_REQUEST, scenario);
    }

    @Test
    void aRequestMustNotUseThePointersOfAnEraThatHasEndedBeforeItWasSeen() {
        assertNeeds(ProtocolRule.REQUESTS_LOOK_AT_THE_ERA_TWICE, aSegmentBeginsAgain());
    }

    /** The client reads a block of a server that the others have taken out. */
    @Test
    void aPointerMustNotOutliveTheLease() {
        ModelScenario scenario = new ModelScenario(1, 2)
                .object(0, A, 1, 1)
                .knows(0, 0)
                .cutOff(1, 1)
                .leaving()
                .losingLease(0)
                .withLosses()
                .client(get(A))
                .client(set(A, 2));
        assertNeeds(ProtocolRule.POINTERS_END_WITH_THE_LEASE, scenario);
    }

    /** Eras in between did not wait for the client. */
    @Test
    void aPointerMustNotOutliveAnOpeningOfTheMap() {
        ModelScenario scenario = aSegmentBeginsAgain().losingLease(0).openingAgain();
        assertNeeds(ProtocolRule.POINTERS_END_WITH_THE_LEASE, scenario);
    }

    @Test
    void aSetThatIsReplacedAtOnceMustNotKeepAPointer() {
        ModelScenario scenario = new ModelScenario(1, 3)
                .object(0, A, 1, 0)
                .knows(0, 0)
                .settingByTable()
                .client(set(A, 2), get(A))
                .client(set(A, 3));
        assertNeeds(ProtocolRule.POINTERS_ARE_TO_WHAT_A_SLOT_NAMED, scenario);
    }

    /** The other set may have ended before this one began. */
    @Test
    void aSetThatLosesByItsPointerMustNotCountAsReplacedAtOnce() {
        ModelScenario scenario = new ModelScenario(1, 3)
                .object(0, A, 1, 0)
                .knows(0, 0)
                .client(set(A, 2), get(A))
                .client(set(A, 3));
        assertNeeds(ProtocolRule.A_SET_THAT_LOSES_BY_A_POINTER_LOOKS, scenario);
    }

    @Test
    void aKeyMustNotBeInTwoSlots() {
        ModelScenario scenario = new ModelScenario(2, 3)
                .client(set(A, 1))
                .client(set(A, 2), get(A))
                .client(get(A));
        assertNeeds(ProtocolRule.NO_KEY_IN_TWO_SLOTS, scenario);
    }

    @Test
    void anUpdateMustKnowTheKeyOfTheBlockThatItReplaces() {
        ModelScenario scenario = new ModelScenario(2, 3)
                .object(0, B, 3, 0)
                .notes(1)
                .withLosses()
                .client(set(A, 1))
                .client(set(A, 2), get(A))
                .client(get(A));
        assertNeeds(ProtocolRule.NO_INSERTION_UNSEEN, scenario);
    }

    @Test
    void aPointerMustNotOutliveItsEra() {
        assertNeeds(ProtocolRule.POINTERS_ARE_OF_AN_ERA, aSegmentBeginsAgain());
    }

    private static ModelScenario aSegmentBeginsAgain() {
        return new ModelScenario(1, 2)
                .object(0, A, 1, 0)
                .knows(0, 0)
                .withEras(1)
                .client(get(A))
                .client(set(A, 2), set(A, 3))
                .client(get(A));
    }

    /** Nor does it prove which key a slot's block has: then a set would be an insertion unseen. */
    @Test
    void aPointerOfAnOlderEraProvesNoKey() {
        ModelScenario scenario = new ModelScenario(2, 3)
                .object(0, A, 1, 0)
                .knows(0, 0)
                .notes(1)
                .withEras(1)
                .withLosses()
                .client(set(A, 2))
                .client(delete(A), set(B, 4), set(A, 3), get(A));
        assertNeeds(ProtocolRule.POINTERS_ARE_OF_AN_ERA, scenario);
    }

    /** With all rules nothing is wrong; without this one, something is. */
    private static void assertNeeds(ProtocolRule rule, ModelScenario scenario) {
        assertNothingWrong(scenario, MOST_STATES);
        assertWrong(scenario.without(rule));
    }

    private static void assertWrong(ModelScenario scenario) {
        StateExplorer.Exploration found = StateExplorer.explore(scenario, MOST_STATES);
        System.out.println(found);
        assertFalse(found.history().isEmpty(), found::toString);
    }

    private static void assertNothingWrong(ModelScenario scenario, int mostStates) {
        StateExplorer.Exploration found = StateExplorer.explore(scenario, mostStates);
        System.out.println(found);
        assertTrue(found.history().isEmpty() && found.complete(), found::toString);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("scenarios")
    void withAllRulesEveryAnswerIsRight(String name, ModelScenario scenario) {
        assertNothingWrong(scenario, MOST_STATES);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("scenarios")
    void ifSetsReadTheBucketEveryAnswerIsRight(String name, ModelScenario scenario) {
        assertNothingWrong(scenario.settingByTable(), MOST_STATES);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("scenarios")
    void byTheTableEveryAnswerIsRight(String name, ModelScenario scenario) {
        assertNothingWrong(scenario.byTable(), MOST_STATES);
    }

    static Stream<Arguments> scenarios() {
        return Stream.of(
                arguments("insertions and a delete", insertionsAnd(delete(A))),
                arguments(
                        "adds and deletes",
                        new ModelScenario(2, 3)
                                .client(add(A, 1))
                                .client(add(A, 2), delete(A))
                                .client(delete(A))),
                arguments(
                        "four clients",
                        new ModelScenario(2, 4)
                                .client(set(A, 1))
                                .client(add(A, 2))
                                .client(delete(A))
                                .client(get(A), get(A))),
                arguments(
                        "four slots", new ModelScenario(4, 3).client(set(A, 1)).client(add(A, 2), delete(A))),
                arguments(
                        "another key leaves a slot",
                        new ModelScenario(2, 3)
                                .object(0, B, 3, 0)
                                .withLosses()
                                .client(set(A, 1))
                                .client(add(A, 2), get(A))
                                .client(delete(B), get(A))),
                arguments(
                        "one slot for two keys",
                        new ModelScenario(1, 3)
                                .object(0, A, 3, 0)
                                .knows(2, 0)
                                .withLosses()
                                .client(set(A, 1), get(A))
                                .client(set(B, 4), get(B))
                                .client(get(A), add(A, 2))),
                arguments(
                        "a touch, and a client that dies",
                        new ModelScenario(2, 4)
                                .object(1, A, 3, 0)
                                .knows(2, 1)
                                .withDeaths(1)
                                .client(touch(A), delete(A))
                                .client(set(A, 1), get(A))
                                .client(get(A), add(A, 2))),
                arguments(
                        "evictions, touches and a segment that begins again",
                        new ModelScenario(2, 4)
                                .object(0, A, 3, 0)
                                .object(1, B, 4, 1)
                                .knows(2, 0)
                                .withLosses()
                                .withEras(1)
                                .client(evict(), touch(A))
                                .client(set(A, 1))
                                .client(get(A), get(A))),
                arguments(
                        "a segment begins again, and a client dies",
                        new ModelScenario(1, 2)
                                .object(0, A, 3, 0)
                                .knows(0, 0)
                                .withEras(1)
                                .withDeaths(1)
                                .client(get(A), get(A))
                                .client(set(A, 1), set(A, 2))
                                .client(get(A))),
                arguments(
                        "a get says that there may be pointers while a set and a move change the slot",
                        new ModelScenario(1, 4)
                                .object(0, A, 3, 0)
                                .client(get(A), get(A))
                                .client(set(A, 1), get(A))
                                .client(move())),
                arguments(
                        "a client dies behind its mark, and its block is found",
                        new ModelScenario(1, 3)
                                .object(0, A, 3, 0)
                                .knows(0, 0)
                                .withDeaths(1)
                                .client(get(A), get(A))
                                .client(set(A, 1))
                                .client(set(A, 2), delete(A))),
                arguments(
                        "a client whose lease has ended reads a block of a server that leaves",
                        new ModelScenario(1, 3)
                                .object(0, A, 3, 2)
                                .knows(0, 0)
                                .cutOff(2, 1)
                                .leaving()
                                .losingLease(0)
                                .openingAgain()
                                .withLosses()
                                .client(get(A), get(A))
                                .client(set(A, 1), set(A, 2))
                                .client(get(A))),
                arguments(
                        "a server that one client does not reach leaves",
                        new ModelScenario(2, 3)
                                .object(0, A, 3, 0)
                                .knows(0, 0)
                                .cutOff(0, 1)
                                .leaving()
                                .withLosses()
                                .client(get(A), get(A))
                                .client(set(A, 1), get(A))
                                .client(delete(A))));
    }

    /** Scenarios with more states than memory has room for: the shorter histories of these. */
    @Tag("full")
    @ParameterizedTest(name = "{0}")
    @MethodSource("deepScenarios")
    void withAllRulesEveryAnswerIsRightInDeepScenarios(String name, ModelScenario scenario) {
        StateExplorer.Exploration found = StateExplorer.explore(scenario, MOST_STATES_OF_FULL);
        System.out.println(found);
        assertTrue(found.history().isEmpty(), found::toString);
    }

    @Tag("full")
    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void withAllRulesEveryAnswerIsRightInAnyScenario(long seed) {
        StateExplorer.Exploration found = StateExplorer.explore(ScenarioGenerator.scenario(seed), MOST_STATES_OF_SEED);
        assertTrue(found.history().isEmpty(), found::toString);
    }

    static LongStream seeds() {
        return LongStream.range(0, SEEDS);
    }

    @Tag("full")
    @ParameterizedTest(name = "{0}")
    @MethodSource("deepScenarios")
    void byTheTableEveryAnswerIsRightInDeepScenarios(String name, ModelScenario scenario) {
        StateExplorer.Exploration found = StateExplorer.explore(scenario.byTable(), MOST_STATES_OF_FULL);
        System.out.println(found);
        assertTrue(found.history().isEmpty(), found::toString);
    }

    static Stream<Arguments> deepScenarios() {
        return Stream.of(
                arguments(
                        "three slots, one with another key",
                        new ModelScenario(3, 4)
                                .object(1, B, 3, 0)
                                .withLosses()
                                .client(set(A, 1))
                                .client(add(A, 2), get(A))
                                .client(delete(B), get(A))),
                arguments(
                        "four clients with six operations",
                        new ModelScenario(2, 4)
                                .object(1, A, 3, 0)
                                .knows(3, 1)
                                .client(set(A, 1), get(A))
                                .client(add(A, 2))
                                .client(delete(A), get(A))
                                .client(get(A), get(A))),
                arguments(
                        "three clients with eight operations",
                        new ModelScenario(2, 4)
                                .client(set(A, 1), delete(A))
                                .client(add(A, 2), get(A), delete(A))
                                .client(set(A, 3), get(A), get(A))),
                arguments(
                        "evictions, touches, deletes and a segment that begins again",
                        new ModelScenario(2, 4)
                                .object(0, A, 3, 0)
                                .object(1, B, 4, 1)
                                .knows(3, 0)
                                .withLosses()
                                .withEras(1)
                                .client(evict())
                                .client(touch(A))
                                .client(set(A, 1), delete(A))
                                .client(get(A), get(A))),
                arguments(
                        "a server that one client does not reach leaves, and a client dies",
                        new ModelScenario(2, 4)
                                .object(0, A, 3, 0)
                                .knows(0, 0)
                                .cutOff(0, 1)
                                .leaving()
                                .withLosses()
                                .withDeaths(1)
                                .client(get(A), get(A))
                                .client(set(A, 1), get(A))
                                .client(delete(A), add(A, 2))
                                .client(evict(), get(A))),
                arguments(
                        "pointers are announced while a segment begins again and a client dies",
                        new ModelScenario(1, 3)
                                .object(0, A, 3, 0)
                                .withEras(1)
                                .withDeaths(1)
                                .client(get(A), get(A), get(A))
                                .client(set(A, 1), set(A, 2))
                                .client(get(A), move(), get(A))),
                arguments(
                        "moves, evictions and another key by pointers",
                        new ModelScenario(2, 4)
                                .object(0, A, 3, 0)
                                .object(1, B, 4, 1)
                                .knows(0, 0)
                                .knows(3, 1)
                                .withLosses()
                                .client(get(A), get(A))
                                .client(move())
                                .client(evict(), set(A, 1))
                                .client(get(B), delete(B), get(A))),
                arguments(
                        "three sets, a delete, and two clients that die",
                        new ModelScenario(2, 3)
                                .withDeaths(2)
                                .client(set(A, 1), get(A))
                                .client(set(A, 2), get(A))
                                .client(set(A, 3), get(A))
                                .client(get(A), delete(A))));
    }
}
