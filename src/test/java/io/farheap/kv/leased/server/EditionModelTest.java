package io.farheap.kv.leased.server;

import static io.farheap.kv.model.ModelOperation.get;
import static io.farheap.kv.model.ModelOperation.set;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.farheap.kv.format.KeyHash;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.ShardDirectory;
import io.farheap.kv.leased.format.ShardDirectory.Change;
import io.farheap.kv.model.ModelOperation;
import io.farheap.testing.ChoiceExplorer;
import io.farheap.testing.Effort;
import java.util.Arrays;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * All interleavings of small worlds of servers of a leased map, that are lost, replaced and drained and that join, and
 * processes that are stopped, die, or do not reach some of the servers: no two shards act for one key, so each answer
 * is right. The servers are the product's, and so is what follows from their answers.
 */
class EditionModelTest {

    private static final int A = 0;
    private static final int MOST_STATES = 2_000_000;

    /** A range that goes from a server to another by these changes. */
    private static int range(int made, int from, int to, Change... changes) {
        LeasedDescriptor map =
                new LeasedDescriptor(1, 0, made, 1, 1 << 20, 100, 1000, 1000, 16, new KeyHash(1, 2), 1, 0);
        ShardDirectory before = ShardDirectory.of(map);
        ShardDirectory after = before;
        for (Change each : changes) {
            after = after.with(each);
        }
        for (int range = 0; range < before.ranges(); range++) {
            boolean begins = before.serverOf(before.shardOfRange(range)) == from;
            if (begins && (to < 0 || after.serverOf(after.shardOfRange(range)) == to)) {
                return range;
            }
        }
        throw new IllegalArgumentException("no range goes from " + from + " to " + to);
    }

    /** As many of these requests in the short form, and all in the full one. */
    private static ModelOperation[] upTo(int few, ModelOperation... requests) {
        return Arrays.copyOf(requests, Effort.either(few, requests.length));
    }

    private static void assertNothingWrong(EditionScenario scenario) {
        ChoiceExplorer.Exploration found = ChoiceExplorer.explore(MOST_STATES, scenario);
        System.out.println(found);
        assertTrue(found.wrong().isEmpty() && found.complete(), found::toString);
    }

    private static void assertWrong(EditionScenario scenario) {
        ChoiceExplorer.Exploration found = ChoiceExplorer.explore(MOST_STATES, scenario);
        System.out.println(found);
        assertFalse(found.wrong().isEmpty(), found::toString);
    }

    private static void assertNeeds(Supplier<EditionScenario> scenario, EditionRule... rules) {
        assertNothingWrong(scenario.get());
        assertWrong(scenario.get().without(rules));
    }

    /** The process reaches the server that others replace, and none of the others. */
    @Test
    void aProcessWithFewLeasesMustStop() {
        assertNeeds(EditionModelTest::cutOffFromMost, EditionRule.HALF_ARE_HELD);
    }

    private static EditionScenario cutOffFromMost() {
        return new EditionScenario(3, range(3, 2, -1), 1, all -> {
            EditionProcess old = all.open(get(A));
            EditionProcess vouches = all.open(upTo(0, get(A)));
            all.opens(1 << 2, set(A, 2));
            all.stored(old);
            all.mayLose(old, 0b011);
            all.mayLose(vouches, 0b100);
        });
    }

    /** The process does not reach the server that others replace, by what it says to them. */
    @Test
    void aServerThatIsLostMustNotBeUsed() {
        assertNeeds(EditionModelTest::cutOffFromOne, EditionRule.LOST_SERVERS_ARE_NOT_USED);
    }

    private static EditionScenario cutOffFromOne() {
        return new EditionScenario(3, range(3, 2, -1), 1, all -> {
            EditionProcess old = all.open(upTo(1, get(A), set(A, 3), get(A)));
            all.opens(1 << 2, upTo(1, set(A, 2), get(A)));
            all.stored(old);
            all.mayLose(old, 0b100);
        });
    }

    /** Each half replaces the other. */
    @Test
    void moreThanHalfMustAnswer() {
        assertNeeds(EditionModelTest::halves, EditionRule.MORE_THAN_HALF_ANSWER);
    }

    private static EditionScenario halves() {
        return new EditionScenario(4, range(4, 0, -1), 1, all -> {
            EditionProcess one = all.open(get(A));
            EditionProcess other = all.open(get(A));
            all.stored(one);
            all.opens(0b1100, set(A, 2), get(A));
            all.opens(0b0011, set(A, 3));
            all.hasLost(one, 0b1100);
            all.hasLost(other, 0b0011);
        });
    }

    /** A pointer finds what the shard has not dropped. */
    @Test
    void aShardMustDropWhatGoes() {
        assertNeeds(EditionModelTest::join, EditionRule.WHAT_GOES_IS_DROPPED);
    }

    private static EditionScenario join() {
        return new EditionScenario(1, range(1, 0, 1, new Change(1, 1)), 1, all -> {
            EditionProcess old = all.open(upTo(1, get(A), set(A, 3), get(A)));
            EditionProcess changes = all.open(upTo(1, set(A, 2), get(A)));
            all.stored(old);
            changes.join(1);
            all.mayFollow(old, 1);
            all.mayFollow(changes, 1);
        });
    }

    /** The server that leaves is none of the next edition's, so no process asks whether it has given the range up. */
    @Test
    void aRangeMustBeLostBeforeItIsUsedElsewhere() {
        assertNeeds(EditionModelTest::drainBesideAThird, EditionRule.LOST_BEFORE_HAD);
    }

    private static EditionScenario drainBesideAThird() {
        return new EditionScenario(2, range(2, 1, 0, new Change(1, Change.LEFT)), 1, all -> {
            EditionProcess old = all.open(upTo(1, get(A), get(A)));
            EditionProcess changes = all.open();
            EditionProcess third = all.open(set(A, 2));
            all.stored(old);
            changes.leave(1);
            all.mayFollow(third, 1);
        });
    }

    /** The process uses a server that another one replaces, as the others have not heard of that process. */
    @Test
    void aProcessMustBeRegistered() {
        assertNeeds(EditionModelTest::unregistered, EditionRule.PROCESSES_ARE_REGISTERED);
    }

    private static EditionScenario unregistered() {
        return new EditionScenario(3, range(3, 2, -1), 1, all -> {
            EditionProcess old = all.open(get(A), get(A));
            EditionProcess vouches = all.open();
            all.stored(old);
            all.isRegistered(vouches);
            all.hasLost(vouches, 0b100);
            all.opens(1 << 2, set(A, 2));
        });
    }

    /** The process has asked some servers, and is stopped while another one has a server join; then it continues. */
    @Test
    void aReplacementThatWasStoppedMustNotContinue() {
        assertNeeds(EditionModelTest::stoppedReplacement, EditionRule.SEALS_NAME_THE_EDITION);
    }

    private static EditionScenario stoppedReplacement() {
        return new EditionScenario(3, range(3, 0, 3, new Change(3, 1)), 1, all -> {
            EditionProcess old = all.open(get(A));
            EditionProcess joins = all.open();
            EditionProcess stopped = all.opens(1 << 2, set(A, 2));
            stopped.step();
            joins.join(1);
            run(joins);
            joins.die();
            stopped.step();
            old.follow(false);
            run(old);
            all.stored(old);
            all.mayLose(old, 0b100);
        });
    }

    private static void run(EditionProcess process) {
        while (process.isBusy()) {
            for (int server = 0; server < process.world.servers(); server++) {
                for (int shard = 0;
                        shard < process.world.server(server).ranges().shards();
                        shard++) {
                    process.world.settle(server, shard);
                }
            }
            process.step();
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("scenarios")
    void withAllRulesEveryAnswerIsRight(String name, EditionScenario scenario) {
        assertNothingWrong(scenario);
    }

    static Stream<Arguments> scenarios() {
        return Stream.of(
                arguments("a server joins, and the process that has it join may die", joinAndDie()),
                arguments("two processes replace a server, and a seal ends", twoReplace()),
                arguments("a process opens the map that reaches a server which another one replaces", backAgain()),
                arguments("two processes have a server join, and a seal ends", twoJoin()),
                arguments("a server is drained", drain()),
                arguments("a server joins and is drained, and another process knows neither", joinAndDrain()),
                arguments("a server that has joined is replaced", joinedIsLost()));
    }

    private static EditionScenario joinAndDie() {
        return new EditionScenario(1, range(1, 0, 1, new Change(1, 1)), 1, all -> {
            EditionProcess old = all.open(upTo(1, get(A), set(A, 3)));
            EditionProcess changes = all.open();
            all.stored(old);
            changes.join(1);
            all.mayFollow(old, 1);
            all.mayDie(changes);
            all.sealsMayEnd(1);
        });
    }

    private static EditionScenario twoReplace() {
        return new EditionScenario(3, range(3, 2, -1), 1, all -> {
            EditionProcess old = all.open(get(A));
            all.opens(1 << 2, upTo(1, set(A, 2), get(A)));
            all.opens(1 << 2, upTo(0, set(A, 3)));
            all.stored(old);
            all.mayLose(old, 0b100);
            all.sealsMayEnd(1);
        });
    }

    private static EditionScenario backAgain() {
        return new EditionScenario(3, range(3, 2, -1), 1, all -> {
            EditionProcess old = all.open(get(A));
            EditionProcess replaces = all.opens(1 << 2, upTo(1, set(A, 2), get(A)));
            EditionProcess reaches = all.opens(0, upTo(1, get(A), set(A, 3)));
            all.stored(old);
            all.mayLose(old, 0b100);
            if (Effort.isFull()) {
                all.mayLose(reaches, 0b100);
                all.mayDie(replaces);
            }
        });
    }

    private static EditionScenario twoJoin() {
        return new EditionScenario(1, range(1, 0, 1, new Change(1, 1)), 1, all -> {
            EditionProcess one = all.open(get(A));
            EditionProcess other = all.open(upTo(0, set(A, 2)));
            all.stored(one);
            one.join(1);
            other.join(2);
            all.mayFollow(one, 1);
            all.mayFollow(other, Effort.either(0, 1));
            all.sealsMayEnd(1);
        });
    }

    private static EditionScenario drain() {
        return new EditionScenario(2, range(2, 1, 0, new Change(1, Change.LEFT)), 1, all -> {
            EditionProcess old = all.open(upTo(1, get(A), set(A, 3), get(A)));
            EditionProcess changes = all.open(upTo(1, set(A, 2), get(A)));
            all.stored(old);
            changes.leave(1);
            all.mayFollow(old, 1);
            all.mayFollow(changes, 1);
        });
    }

    private static EditionScenario joinAndDrain() {
        return new EditionScenario(1, range(1, 0, 1, new Change(1, 1)), 1, all -> {
            EditionProcess old = all.open(upTo(1, get(A), get(A)));
            EditionProcess changes = all.open(set(A, 2));
            all.stored(old);
            changes.join(1);
            run(changes);
            changes.follow(false);
            run(changes);
            changes.leave(1);
            all.mayFollow(old, 1);
            all.mayFollow(changes, 1);
        });
    }

    private static EditionScenario joinedIsLost() {
        return new EditionScenario(1, range(1, 0, 1, new Change(1, 1)), 1, all -> {
            EditionProcess old = all.open(get(A), set(A, 3));
            old.join(1);
            run(old);
            old.follow(false);
            run(old);
            all.stored(old);
            all.opens(1 << 1, set(A, 2), get(A));
            all.mayLose(old, 0b10);
        });
    }
}
