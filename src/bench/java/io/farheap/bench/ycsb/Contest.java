package io.farheap.bench.ycsb;

import io.farheap.bench.machine.ScratchDirectory;
import io.farheap.bench.peers.PeerAbsentException;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Rotation;
import io.farheap.lifetime.CloseStack;
import io.farheap.tier.device.Device;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Contestants that hold the same set of records, with the same budget of local memory, and take turns. They are opened
 * and loaded one after the other. A contestant that cannot be opened is absent, with a reason.
 */
final class Contest implements AutoCloseable {

    static final String LOCAL = "local";
    static final String FAR = "far";
    static final String FILE = "file";
    /** With a part of the same local memory for copies of records that were read. */
    static final String FAR_CACHED = "far-cached";

    /** As far-cached, with a Caffeine cache in place of the store's own. */
    static final String FAR_CAFFEINE = "far-caffeine";

    static final String FILE_CACHED = "file-cached";
    static final String FIO = "fio";
    static final String TIERED = "tiered";
    /** At first files only; it gets far memory later. */
    static final String RESIZED = "resized";

    static final String RAW = "raw";
    static final String HEAP_MAP = "hashmap";
    static final String OFF_HEAP = "offheap";
    static final String OFF_HEAP_TOUCHED = "offheap-touched";
    static final String AGRONA = "agrona";
    static final String AGRONA_TOUCHED = "agrona-touched";
    static final String FASTER = "faster";
    static final String REDIS_BENCHMARK = "redis-benchmark";
    static final String MEMCSLAP = "memcslap";
    static final String DB_BENCH = "db_bench";

    /** Contestants of the paper or of other papers that cannot be measured here. */
    static final Map<String, String> ELSEWHERE = new TreeMap<>(Map.of(
            "chronicle-map", "its core did not run on JDK 25 early in 2026",
            "memtier", "Debian 12 has no package of memtier_benchmark",
            "faster-file", "FASTER's log has at least six pages of 32 MiB in memory, more than the usual budget",
            "smb-direct", "the paper's second peer needs a Windows server with an RDMA device"));

    /** Rounds that do not count, at most: some contestants never settle. */
    private static final int MOST_WARM_UPS = 5;
    /** By which turns that do not count are shorter, so that all of them take as long as a round or two. */
    private static final int WARM_UP_PART = 3;

    private static final double CACHED_PART = 0.75;

    private interface Opening {
        Contestant open(Path directory) throws Exception;
    }

    private final YcsbPlan plan;
    private final double localShare;
    private final FarCachePool memories;
    private final PrintWriter progress;
    private final CloseStack resources = new CloseStack();
    private final Map<String, Contestant> open = new LinkedHashMap<>();
    private final Map<String, String> absent = new LinkedHashMap<>();

    /** @param localShare of a store's log in local memory, which is also the budget of the other contestants */
    Contest(YcsbPlan plan, double localShare, FarCachePool memories, PrintWriter progress) {
        this.plan = plan;
        this.localShare = localShare;
        this.memories = memories;
        this.progress = progress;
    }

    /** Opens and loads the wanted contestants, in this order. */
    void open(List<String> names) throws IOException {
        for (String name : names) {
            if (plan.wants(name.equals(RESIZED) ? TIERED : name)) {
                open(name);
            }
        }
    }

    private void open(String name) throws IOException {
        Path directory = resources
                .add(new ScratchDirectory(plan.directory(), "farheap-ycsb"))
                .path();
        try {
            long begun = System.nanoTime();
            Contestant contestant = resources.add(opening(name).open(directory));
            contestant.load();
            open.put(name, contestant);
            progress.printf("%s is loaded: %.1f s%n", name, (System.nanoTime() - begun) / 1e9)
                    .flush();
        } catch (PeerAbsentException e) {
            absent.put(name, e.getMessage());
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("cannot start " + name + ": " + e.getMessage(), e);
        }
    }

    private Opening opening(String name) throws PeerAbsentException {
        DataSet data = plan.data();
        return switch (name) {
            case LOCAL -> directory -> new StoreContestant(data, new MemoryStorage(), 1);
            case FAR ->
                directory -> new StoreContestant(data, new FarStorage(data, memories.of(FAR, room(data))), localShare);
            case FILE -> directory -> new StoreContestant(data, new FileStorage(data, directory), localShare);
            case FAR_CACHED ->
                directory -> new StoreContestant(
                        data, new FarStorage(data, memories.of(FAR_CACHED, room(data))), localShare, CACHED_PART);
            case FAR_CAFFEINE -> farCaffeine();
            case FILE_CACHED ->
                directory -> new StoreContestant(data, new FileStorage(data, directory), localShare, CACHED_PART);
            case FIO -> this::fio;
            case TIERED ->
                directory -> new StoreContestant(
                        data, new TieredStorage(data, directory, memories.of(TIERED, room(data))), localShare);
            case RESIZED -> directory -> new StoreContestant(data, new TieredStorage(data, directory), localShare);
            case RAW -> directory -> new RawReads(data, farMemory().cache());
            case HEAP_MAP -> directory -> new HeapMap(data);
            case OFF_HEAP -> directory -> new OffHeapMap(data, false);
            case OFF_HEAP_TOUCHED -> directory -> new OffHeapMap(data, true);
            case AGRONA -> directory -> new AgronaMap(data, false);
            case AGRONA_TOUCHED -> directory -> new AgronaMap(data, true);
            case FASTER -> directory -> new FasterReads(data, plan.faster(), directory);
            case REDIS_BENCHMARK -> directory -> new RedisBenchmark(data, directory);
            case MEMCSLAP -> Memcslap::new;
            case DB_BENCH -> directory -> new DbBench(data, budgetBytes(), directory);
            default -> provided(name);
        };
    }

    /**
     * Returns the room for a log with all records: the ends of pages remain unused, and a store keeps some pages for
     * compactions.
     */
    static long room(DataSet data) {
        return data.logBytes() + data.logBytes() / 8 + 16 * data.segmentBytes();
    }

    private Contestant fio(Path directory) throws PeerAbsentException {
        if (open.get(FILE) instanceof StoreContestant store) {
            Device device = store.storage().device();
            int block = device.readAlignment();
            int blocks = (plan.data().recordBytes() + block - 1) / block;
            return new FioReads(plan.data(), directory, device.name(), StoreContestant.PENDING, blocks * block);
        }
        throw new PeerAbsentException("it stands beside " + FILE + ", which takes no part");
    }

    private Opening farCaffeine() throws PeerAbsentException {
        DataSet data = plan.data();
        LocalCacheProvider provider = LocallyCachedStore.provider();
        return directory -> new LocallyCachedStore(
                data, new FarStorage(data, memories.of(FAR_CAFFEINE, room(data))), localShare, CACHED_PART, provider);
    }

    private FarCacheProcess farMemory() throws PeerAbsentException {
        if (open.get(FAR) instanceof StoreContestant store && store.storage() instanceof FarStorage far) {
            return far.memory();
        }
        throw new PeerAbsentException("it reads the cache of " + FAR + ", which takes no part");
    }

    private Opening provided(String name) throws PeerAbsentException {
        for (ContestantProvider provider : ServiceLoader.load(ContestantProvider.class)) {
            if (provider.names().contains(name)) {
                long budget = Math.max(1, Math.round(localShare * plan.data().logBytes()));
                return directory ->
                        provider.open(name, new ContestantProvider.Setup(plan.data(), budget, indexBytes(), directory));
            }
        }
        throw new PeerAbsentException(
                ELSEWHERE.getOrDefault(name, "its library is not on the class path; ./farheap bench ycsb fetches it"));
    }

    /** Returns the index bytes of a store with as many records; 0 if no store is open. */
    private long indexBytes() {
        return open.values().stream()
                .filter(StoreContestant.class::isInstance)
                .mapToLong(store -> store.facts().indexBytes())
                .findFirst()
                .orElse(0);
    }

    /** Returns the local memory of a store: its part of the log, and its index. */
    private long budgetBytes() {
        return Math.max(1, Math.round(localShare * plan.data().logBytes()) + indexBytes());
    }

    /** Which contestants run a load, and with how many threads. */
    private record Load(KeyDistribution distribution, int threads) {

        /** A contestant with a number of threads of its own runs beside the first number of the plan alone. */
        boolean isOf(Contestant contestant, YcsbPlan plan) {
            return ExternalContestant.takes(contestant, plan.workload(), distribution)
                    && (contestant.threads(threads) == threads
                            || threads == plan.threads().getFirst());
        }
    }

    /**
     * Runs rounds in which each contestant has a turn with each number of threads and each distribution that it
     * supports, in an order that rotates. Rounds do not count, and have shorter turns, until the last three turns of
     * each result agree within 5%, or until there have been {@value #MOST_WARM_UPS}.
     */
    List<ContestResult> run(List<KeyDistribution> distributions) {
        Map<String, ContestResult> results = new LinkedHashMap<>();
        Map<String, List<KeyStream>> streams = new LinkedHashMap<>();
        List<Load> loads = new ArrayList<>();
        for (KeyDistribution distribution : distributions) {
            plan.threads().forEach(threads -> loads.add(new Load(distribution, threads)));
        }
        for (Load load : loads) {
            open.forEach((name, contestant) -> {
                if (load.isOf(contestant, plan)) {
                    results.put(
                            load + name, new ContestResult(name, load.distribution(), load.threads(), budgetBytes()));
                }
            });
        }
        if (results.isEmpty()) {
            return List.of();
        }
        List<String> names = List.copyOf(open.keySet());
        Rotation rotation = new Rotation(names.size());
        try (ModelLateness lateness = new ModelLateness(memories.addresses())) {
            boolean settled = false;
            for (int warmUp = 1; warmUp <= MOST_WARM_UPS && !settled; warmUp++) {
                for (Load load : loads) {
                    for (int place : rotation.order(-warmUp)) {
                        turn(load, names.get(place), streams, lateness, results, false);
                    }
                }
                settled = results.values().stream().allMatch(ContestResult::settled);
                progress.printf("warm-up %d of at most %d%n", warmUp, MOST_WARM_UPS)
                        .flush();
            }
            for (int round = 0; round < plan.rounds(); round++) {
                for (Load load : loads) {
                    for (int place : rotation.order(round)) {
                        turn(load, names.get(place), streams, lateness, results, true);
                    }
                }
                progress.printf("round %d of %d%n", round + 1, plan.rounds()).flush();
            }
        }
        return new ArrayList<>(results.values());
    }

    private void turn(
            Load load,
            String name,
            Map<String, List<KeyStream>> streams,
            ModelLateness lateness,
            Map<String, ContestResult> results,
            boolean counts) {
        Contestant contestant = Objects.requireNonNull(open.get(name));
        if (!load.isOf(contestant, plan)) {
            return;
        }
        int threads = contestant.threads(load.threads());
        List<KeyStream> ofLoad = streams.computeIfAbsent(
                load.distribution() + " " + threads, ignored -> streams(load.distribution(), threads));
        ContestResult result = Objects.requireNonNull(results.get(load + name));
        if (counts) {
            lateness.restart();
            ContestTurn turn = ExternalContestant.turn(contestant, plan.workload(), ofLoad, plan.turnNanos());
            result.add(turn, contestant, lateness);
        } else {
            long nanos = Math.max(1, plan.turnNanos() / WARM_UP_PART);
            result.warmUp(ExternalContestant.turn(contestant, plan.workload(), ofLoad, nanos));
        }
    }

    private List<KeyStream> streams(KeyDistribution distribution, int threads) {
        List<KeyStream> streams = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            streams.add(new KeyStream(distribution, plan.data().records(), thread, threads));
        }
        return streams;
    }

    /** Runs a contestant while another activity continues, until that has ended. */
    ContestResult runDuring(String name, int threads, String what, BooleanSupplier goesOn) {
        Contestant contestant = Objects.requireNonNull(open.get(name));
        List<KeyStream> streams = streams(KeyDistribution.UNIFORM, threads);
        ContestResult result = new ContestResult(what, KeyDistribution.UNIFORM, threads, budgetBytes());
        try (ModelLateness lateness = new ModelLateness(memories.addresses())) {
            do {
                ContestTurn turn = TurnRunner.run(contestant, plan.workload(), streams, plan.turnNanos() / 4);
                result.add(turn, contestant, lateness);
            } while (goesOn.getAsBoolean());
        }
        return result;
    }

    /** Returns null if it takes no part. */
    @Nullable
    Contestant contestant(String name) {
        return open.get(name);
    }

    /** Reasons by name. */
    Map<String, String> absent() {
        return absent;
    }

    @Override
    public void close() {
        resources.close();
    }
}
