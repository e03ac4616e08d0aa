package io.farheap.soak;

import io.farheap.cache.Cache;
import io.farheap.cache.contract.Status;
import io.farheap.command.ChildJvm;
import io.farheap.resilience.contract.Resilience;
import io.farheap.verbs.Devices;
import io.farheap.verbs.VerbsLibrary;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * A process with a coded cache of its own, which uses it until it is killed. A coded cache is one process's: nothing of
 * it is left then, and all of its memory goes back to its servers.
 */
public final class ChaosClient {

    private static final String HOLDS = "holds";
    private static final String WRONG = "wrong ";
    private static final long LOOK_MILLIS = 20;

    private ChaosClient() {}

    /**
     * Starts one, lets it be at it for so long, and kills it.
     *
     * @param mayShow whether its requests may end as CORRUPT
     */
    static void killed(
            Resilience code,
            long capacity,
            List<String> servers,
            boolean mayShow,
            long seed,
            long millis,
            Problems problems)
            throws InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                ChaosClient.class.getName(),
                code.mode().name(),
                Integer.toString(code.dataSplits()),
                Integer.toString(code.paritySplits()),
                Integer.toString(code.additional()),
                Integer.toString(code.pageBytes()),
                Long.toString(code.timeoutNanos()),
                Long.toString(capacity),
                Boolean.toString(mayShow),
                Long.toString(seed)));
        command.addAll(servers);
        List<String> flags = List.of("-Xmx128m", "-XX:TieredStopAtLevel=1");
        try (ChildJvm jvm = ChildJvm.start(Devices.library(), Map.of(), flags, command)) {
            String first = jvm.output().readLine();
            if (!HOLDS.equals(first)) {
                problems.add("a client process has no coded cache: " + first);
            }
            Thread.sleep(millis);
            jvm.kill();
            jvm.output().lines().filter(line -> line.startsWith(WRONG)).forEach(problems::add);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot run a client process", e);
        }
    }

    /** Ends with its standard input. */
    public static void main(String[] arguments) throws InterruptedException {
        VerbsLibrary.choose(VerbsLibrary.AUTO);
        Thread.ofPlatform().daemon().name("standard input").start(ChaosClient::listen);
        Resilience code = new Resilience(
                Resilience.Mode.valueOf(arguments[0]),
                Integer.parseInt(arguments[1]),
                Integer.parseInt(arguments[2]),
                Integer.parseInt(arguments[3]),
                Integer.parseInt(arguments[4]),
                Long.parseLong(arguments[5]),
                false,
                1,
                1);
        boolean mayShow = Boolean.parseBoolean(arguments[7]);
        Problems problems = new Problems();
        try {
            use(
                    code,
                    Long.parseLong(arguments[6]),
                    mayShow,
                    Long.parseLong(arguments[8]),
                    List.of(arguments).subList(9, arguments.length),
                    problems);
        } catch (RuntimeException e) {
            problems.add("a client process", e);
        }
        problems.all().forEach(problem -> System.out.println(WRONG + problem.replace("\n", " | ")));
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static void use(
            Resilience code, long capacity, boolean mayShow, long seed, List<String> servers, Problems problems)
            throws InterruptedException {
        try (Cache cache = Cache.builder()
                .capacity(capacity)
                .servers(servers)
                .name("chaos-client")
                .resilience(code)
                .create()) {
            CodedLoad load = new CodedLoad(
                    cache,
                    List.of(CodedLoad.ASYNCHRONOUS, CodedLoad.BLOCKING),
                    part -> mayShow,
                    status -> mayShow && status == Status.CORRUPT,
                    new SplittableRandom(seed),
                    new WaitTimes(Long.MAX_VALUE, problems),
                    problems);
            System.out.println(HOLDS);
            List<Thread> threads = load.workers().stream()
                    .map(worker ->
                            Thread.ofPlatform().daemon().name(worker.name()).start(worker))
                    .toList();
            while (!problems.any()) {
                Thread.sleep(LOOK_MILLIS);
            }
            load.workers().forEach(Worker::stop);
            for (Thread thread : threads) {
                thread.join(Duration.ofNanos(Worker.PATIENCE_NANOS));
            }
        }
    }

    private static void listen() {
        try {
            while (System.in.read() >= 0) {
                // It is told nothing.
            }
        } catch (IOException e) {
            // As good as its end.
        }
        Runtime.getRuntime().halt(0);
    }
}
