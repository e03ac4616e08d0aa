package io.farheap.runner;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Runs items: as many at a time as it has places and the machine has memory for, those expected to take longest first,
 * and those that must be alone when nothing else is left that could run.
 *
 * <p>One thread calls {@link #run}; a thread for each running item waits for its command and puts what became of it
 * into a queue that the former takes from. So all state but that queue is one thread's.
 */
final class Pool {

    /** What an item may take it does not take at once: so long after its start it counts as not taken yet. */
    private static final long GROWING_NANOS = 60_000_000_000L;
    /** How often a pool that waits for memory looks again. */
    private static final long LOOK_MILLIS = 500;

    /** Hears of each item that has ended. */
    @FunctionalInterface
    interface Listener {

        void ended(Item item, Ending ending, Outcome outcome);
    }

    private record Ended(Item item, Ending ending, Outcome outcome) {}

    private final Path root;
    private final Path scratch;
    private final String run;
    private final int places;
    private final Listener listener;

    private final List<Item> waiting = new ArrayList<>();
    private final Map<String, Item> running = new HashMap<>();
    private final Set<String> passed = new HashSet<>();
    private final Set<String> failed = new HashSet<>();
    private final BlockingQueue<Ended> ended = new LinkedBlockingQueue<>();
    private final Map<String, Long> startedAt = new HashMap<>();
    private int started;

    /**
     * @param root the directory in which commands run
     * @param scratch a directory for the items' files
     * @param run what the processes of this run have as {@link RunningItem#RUN_MARK}
     * @param places how many items run at a time
     */
    Pool(Path root, Path scratch, String run, int places, Listener listener) {
        this.root = root;
        this.scratch = scratch;
        this.run = run;
        this.places = places;
        this.listener = listener;
    }

    /** Returns when all have ended. */
    void run(List<Item> items) throws InterruptedException {
        waiting.addAll(items);
        if (waiting.stream().map(Item::name).distinct().count() < waiting.size()) {
            throw new IllegalArgumentException("two items have one name");
        }
        while (!waiting.isEmpty() || !running.isEmpty()) {
            refuseThoseBehindFailures();
            waiting.sort(Comparator.comparingDouble((Item item) -> -item.seconds()));
            while (startOne()) {}
            if (running.isEmpty() && !waiting.isEmpty()) {
                if (waiting.stream().noneMatch(this::ready)) {
                    throw new IllegalStateException("these wait for items that there are not: "
                            + waiting.stream().map(Item::name).toList());
                }
                continue;
            }
            Ended one = ended.poll(LOOK_MILLIS, TimeUnit.MILLISECONDS);
            if (one != null) {
                take(one);
            }
        }
    }

    private void take(Ended one) {
        running.remove(one.item.name());
        waiting.addAll(one.outcome.rest());
        boolean bad = one.outcome.results().stream().anyMatch(result -> result.failed() > 0);
        (bad ? failed : passed).add(one.item.name());
        listener.ended(one.item, one.ending, one.outcome);
    }

    private void refuseThoseBehindFailures() {
        for (boolean again = true; again; ) {
            again = false;
            for (Iterator<Item> items = waiting.iterator(); items.hasNext(); ) {
                Item item = items.next();
                String cause = item.after().stream()
                        .filter(failed::contains)
                        .findFirst()
                        .orElse(null);
                if (cause != null) {
                    items.remove();
                    failed.add(item.name());
                    // The cause is a failure already.
                    listener.ended(
                            item, new Ending(0, "not run, since " + cause + " failed", "", 0, 0), Outcome.NOTHING);
                    again = true;
                }
            }
        }
    }

    private boolean ready(Item item) {
        return passed.containsAll(item.after());
    }

    private boolean startOne() {
        int taken = running.values().stream().mapToInt(Item::slots).sum();
        if (running.values().stream().anyMatch(Item::alone)) {
            return false;
        }
        for (Item item : waiting) {
            if (!ready(item)) {
                continue;
            }
            boolean fits = item.alone()
                    ? running.isEmpty() && waiting.stream().noneMatch(other -> !other.alone() && ready(other))
                    : running.isEmpty() || taken + item.slots() <= places && hasMemory(item);
            if (fits) {
                waiting.remove(item);
                start(item);
                return true;
            }
        }
        return false;
    }

    private boolean hasMemory(Item next) {
        long growing = running.values().stream()
                .filter(item -> System.nanoTime() - startedAt.get(item.name()) < GROWING_NANOS)
                .mapToLong(Item::mebibytes)
                .sum();
        try {
            for (String line : Files.readAllLines(Path.of("/proc/meminfo"))) {
                if (line.startsWith("MemAvailable:")) {
                    return Long.parseLong(line.replaceAll("\\D", "")) >> 10 > growing + next.mebibytes();
                }
            }
        } catch (IOException e) {
            // Without /proc nobody can tell.
        }
        return true;
    }

    private void start(Item item) {
        int number = ++started;
        running.put(item.name(), item);
        startedAt.put(item.name(), System.nanoTime());
        Path own = scratch.resolve(Integer.toString(number));
        Thread.ofPlatform().daemon().name("item " + item.name()).start(() -> ended.add(watch(item, own, number)));
    }

    private Ended watch(Item item, Path own, int number) {
        Ending ending = new Ending(1, "it was not run", "", 0, 0);
        try {
            ending = new RunningItem(item, root, own, run, number).await();
            return new Ended(item, ending, item.reader().read(own, ending));
        } catch (InterruptedException | IOException | RuntimeException | Error e) {
            // Else the pool would wait for it for ever.
            Processes.kill(RunningItem.mark(run, number));
            StringWriter stack = new StringWriter();
            e.printStackTrace(new PrintWriter(stack));
            return new Ended(item, ending, Outcome.of(Result.failure(item.name(), "the runner: " + stack)));
        }
    }
}
