package io.farheap.soak;

import io.farheap.cache.Cache;
import io.farheap.cache.CacheBuilder;
import io.farheap.verbs.VerbsLibrary;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * A client process with a cache of its own on the soak's servers, which is stopped and killed. It checks every byte
 * that it reads, and prints what it does, a line each. What it may lose is for the soak to judge, which knows what it
 * did to whom.
 */
public final class SoakTenant {

    /** It has its regions: what follows is how many. */
    static final String HOLDS = "holds ";
    /** A server is lost: HOST:PORT and the cause follow. */
    static final String LOST = "lost ";

    static final String WRONG = "wrong ";
    /** It has checked everything and closed its cache: a {@link Result} follows. */
    static final String DONE = "done ";
    /** What it is told. The end of its input alone ends it at once. */
    static final String END = "end";

    private static final int SHARES = 3;
    private static final long LOOK_MILLIS = 20;

    /**
     * @param recoveries how often a request of it was lost.
     * @param longestNanos from a request's issue to its callback
     */
    record Result(long operations, long regionsMoved, long recoveries, long bytesLost, long longestNanos) {

        String line() {
            return DONE + operations + ' ' + regionsMoved + ' ' + recoveries + ' ' + bytesLost + ' ' + longestNanos;
        }

        static Result of(String line) {
            long[] all = Arrays.stream(line.substring(DONE.length()).split(" "))
                    .mapToLong(Long::parseLong)
                    .toArray();
            return new Result(all[0], all[1], all[2], all[3], all[4]);
        }
    }

    private final SplittableRandom random;
    private final Problems problems = new Problems();
    private final WaitTimes waits = new WaitTimes(Long.MAX_VALUE, problems);
    private final Set<String> lost = ConcurrentHashMap.newKeySet();
    private final CountDownLatch end = new CountDownLatch(1);

    private SoakTenant(long seed) {
        random = new SplittableRandom(seed);
    }

    /** What {@link #main} is to be called with. */
    static List<String> arguments(long seed, int regions, long regionBytes, List<String> servers) {
        List<String> arguments =
                new ArrayList<>(List.of(Long.toString(seed), Integer.toString(regions), Long.toString(regionBytes)));
        arguments.addAll(servers);
        return arguments;
    }

    /** With {@link #arguments}. */
    public static void main(String[] arguments) {
        VerbsLibrary.choose(VerbsLibrary.AUTO);
        SoakTenant tenant = new SoakTenant(Long.parseLong(arguments[0]));
        Thread.ofPlatform().daemon().name("standard input").start(tenant::listen);
        try {
            int regions = Integer.parseInt(arguments[1]);
            System.out.println(tenant.run(
                            regions,
                            Long.parseLong(arguments[2]),
                            List.of(arguments).subList(3, arguments.length))
                    .line());
        } catch (Throwable e) {
            tenant.problems.add("a client process", e);
        }
        tenant.tellProblems();
        // Threads that are stuck must not hold it.
        Runtime.getRuntime().halt(0);
    }

    private void listen() {
        try (BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                if (line.equals(END)) {
                    end.countDown();
                }
            }
        } catch (IOException e) {
            // As good as its end.
        }
        Runtime.getRuntime().halt(0);
    }

    private void tellProblems() {
        problems.all().forEach(problem -> System.out.println(WRONG + problem.replace("\n", " | ")));
        System.out.flush();
    }

    private Result run(int regions, long regionBytes, List<String> servers) throws InterruptedException {
        CacheBuilder builder = Cache.builder()
                .capacity(regions * regionBytes)
                .servers(servers)
                .name("soak-client")
                .configuration(RandomConfigurations.next(random))
                .requests(32 << random.nextInt(5))
                .onLost((server, cause, count) -> {
                    lost.add(server);
                    System.out.println(LOST + server + ": " + cause);
                });
        try (Cache cache = Retry.until(System.nanoTime() + Worker.PATIENCE_NANOS, builder::create)) {
            System.out.println(HOLDS + regions);
            WorkerLayout layout = new WorkerLayout(cache.capacity(), SHARES, random.split());
            // Its migrations may fail: what they need may be stopped, killed, or full.
            Migrator migrator = new Migrator(cache, random.split(), true, problems);
            Predicate<CachePart> mayBeLost = part -> part.touches(
                    regionBytes,
                    region -> !lost.isEmpty()
                            && (lost.contains(cache.serverOf(region))
                                    || migrator.failed().contains(region)));
            List<Worker> workers = List.of(
                    worker(
                            "asynchronous session",
                            cache,
                            finished -> new SessionClient(cache, finished),
                            layout,
                            0,
                            mayBeLost),
                    worker(
                            "blocking session",
                            cache,
                            finished -> new BlockingClient(cache, finished),
                            layout,
                            1,
                            mayBeLost),
                    worker("futures", cache, finished -> new FutureClient(cache, finished), layout, 2, mayBeLost));
            List<Thread> threads = new ArrayList<>(workers.stream()
                    .map(worker ->
                            Thread.ofPlatform().daemon().name(worker.name()).start(worker))
                    .toList());
            if (random.nextBoolean()) {
                threads.add(Thread.ofPlatform().daemon().name("migrator").start(migrator));
            }
            boolean ending = false;
            while (!ending && !problems.any()) {
                ending = end.await(LOOK_MILLIS, TimeUnit.MILLISECONDS);
            }
            migrator.stop();
            workers.forEach(Worker::stop);
            for (Thread thread : threads) {
                if (!thread.join(Duration.ofNanos(Worker.PATIENCE_NANOS))) {
                    throw new IllegalStateException(
                            thread.getName() + " does not end; it is at " + Arrays.toString(thread.getStackTrace()));
                }
            }
            worker(
                            "the check of everything",
                            cache,
                            finished -> new BlockingClient(cache, finished),
                            layout,
                            0,
                            mayBeLost)
                    .check(layout.all());
            return new Result(
                    workers.stream().mapToLong(Worker::operations).sum(),
                    migrator.moved(),
                    workers.stream().mapToLong(Worker::recoveries).sum(),
                    layout.all().stream()
                            .filter(CachePart::lost)
                            .mapToLong(CachePart::bytes)
                            .sum(),
                    waits.longestRequestNanos());
        }
    }

    private Worker worker(
            String name,
            Cache cache,
            CacheClient.Opener opener,
            WorkerLayout layout,
            int number,
            Predicate<CachePart> mayBeLost) {
        RandomRequests requests = new RandomRequests(layout.share(number), layout.words(), random.split());
        return new Worker(
                "a client process's " + name, cache, opener, requests, mayBeLost, random.split(), waits, problems);
    }
}
