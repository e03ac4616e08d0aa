package io.farheap.kv.leased.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Servers of leased maps agree on which of them has a key, whatever processes stop, die or are cut off from some
 * servers at any step of a change: no process reads a value that was replaced. Servers are as they are, and so is what
 * follows from their answers; processes take their steps in an order that a seed gives, by a clock of the test.
 */
class EditionScheduleTest {

    private static final int SCHEDULES = 400;
    private static final int STEPS = 1500;
    private static final int RECOVERY_STEPS = 1000;
    private static final int LEASE = 12;
    private static final int REPLACE_MILLIS = 4;

    private long installs;
    private long replaced;
    private long joined;
    private long left;
    private long hits;
    private long pointerHits;

    @Test
    void noValueComesBack() {
        for (int seed = 0; seed < SCHEDULES; seed++) {
            new Schedule(seed).run();
        }
        String counts = installs + " editions, " + replaced + " replacements, " + joined + " joins, " + left
                + " leaves, " + hits + " hits, " + pointerHits + " by pointers";
        assertTrue(installs > SCHEDULES && replaced > 20 && joined > 20 && left > 20 && hits > SCHEDULES, counts);
        assertTrue(pointerHits > SCHEDULES, counts);
    }

    private final class Schedule {

        private final int seed;
        private final SplittableRandom random;
        private final EditionWorld world;
        /** By range: the last value that was stored. */
        private final int[] last;
        /** By process and range: the last value that it has stored or found. */
        private final Map<EditionProcess, int[]> pointers = new HashMap<>();

        private int stored;

        Schedule(int seed) {
            this.seed = seed;
            random = new SplittableRandom(seed);
            world = new EditionWorld(1 + random.nextInt(5), REPLACE_MILLIS, LEASE);
            last = new int[world.ranges()];
        }

        void run() {
            for (int step = 0; step < STEPS; step++) {
                if (world.processes.size() < 4 && random.nextInt(8) == 0) {
                    world.process().open();
                }
                int what = random.nextInt(100);
                if (what < 8) {
                    tick();
                } else if (what == 8 && random.nextInt(12) == 0) {
                    world.dead[random.nextInt(world.servers())] = true;
                } else if (what < 20) {
                    settle(random.nextInt(world.servers()));
                } else if (!world.processes.isEmpty()) {
                    step(world.processes.get(random.nextInt(world.processes.size())));
                }
                world.processes.removeIf(this::hasEnded);
            }
            recovers();
        }

        private boolean hasEnded(EditionProcess process) {
            if (process.ended) {
                installs += process.installs;
                replaced += process.replaced;
                pointers.remove(process);
            }
            return process.ended;
        }

        /** Whatever processes have left behind when they ended, another one opens the map, if all servers answer. */
        private void recovers() {
            for (boolean each : world.dead) {
                if (each) {
                    return;
                }
            }
            world.processes.forEach(EditionProcess::die);
            world.processes.removeIf(this::hasEnded);
            EditionProcess opens = world.process();
            opens.open();
            for (int step = 0; step < RECOVERY_STEPS && !opens.isOpen(); step++) {
                if (opens.ended) {
                    opens = world.process();
                    opens.open();
                }
                opens.renew();
                if (opens.isBusy()) {
                    opens.step();
                }
                settle(random.nextInt(world.servers()));
            }
            assertTrue(opens.isOpen(), this::where);
        }

        private void tick() {
            world.now++;
            world.processes.forEach(EditionProcess::renew);
            world.processes.forEach(EditionProcess::endLeases);
        }

        private void settle(int server) {
            if (!world.dead[server]) {
                world.settle(
                        server, random.nextInt(world.server(server).ranges().shards()));
            }
        }

        private void step(EditionProcess process) {
            int what = random.nextInt(60);
            if (what == 0) {
                process.stopped = !process.stopped;
            } else if (what == 1) {
                int server = random.nextInt(world.servers());
                process.cut[server] = !process.cut[server];
            } else if (what == 2 && random.nextInt(6) == 0) {
                process.die();
            } else if (!process.stopped && process.isBusy() && random.nextBoolean()) {
                process.step();
            } else if (!process.stopped && process.isOpen()) {
                use(process, what);
            }
        }

        private void use(EditionProcess process, int what) {
            if (what < 30) {
                request(process);
            } else if (what < 45) {
                process.beat();
            } else if (!process.isBusy() && what < 50) {
                process.follow(random.nextInt(4) == 0);
            } else if (!process.isBusy() && what == 50 && process.directory().servers() < EditionWorld.MOST_SERVERS) {
                process.join(1 + random.nextInt(2));
                joined++;
            } else if (!process.isBusy()
                    && what == 51
                    && process.leave(random.nextInt(process.directory().servers()))) {
                left++;
            }
        }

        private void request(EditionProcess process) {
            int range = random.nextInt(last.length);
            int server = process.directory().serverOfKey(world.hash(range));
            if (process.isCutOff() || !process.reaches(server)) {
                return;
            }
            int[] known = pointers.computeIfAbsent(process, _ -> new int[last.length]);
            int[] values = world.values(server);
            if (known[range] != 0 && known[range] == values[range] && random.nextBoolean()) {
                // The block is whole and not marked, whatever ranges the server has now.
                pointerHits++;
                assertEquals(last[range], values[range], this::where);
                return;
            }
            ServedRanges ranges = world.server(server).ranges();
            int index = ranges.indexOf(world.hash(range));
            if (index == ServedRanges.ELSEWHERE || !ranges.isSettled(index)) {
                // The shard's thread drops what has gone before it carries out a call; this one asks again.
                return;
            }
            if (random.nextBoolean()) {
                values[range] = ++stored;
                last[range] = values[range];
            } else if (values[range] != 0) {
                hits++;
                assertEquals(last[range], values[range], this::where);
            }
            known[range] = values[range];
        }

        private String where() {
            return "seed " + seed + ", at " + world.now;
        }
    }
}
