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
 * Contestants that hold the same set of records and take turns, with the same budget of local memory or with shares of
 * the log that differ. They are opened and loaded one after the other. A contestant that cannot be opened is absent,
 * with a reason.
 */
final class Contest implements AutoCloseable {

    static final String LOCAL = "local";
    /** Key by key. */
    static final String LOCAL_SINGLE = "local-1";

    static final String FAR = "far";
    static final String FILE = "file";
    /** Key by key, as a thread that gets one key of RocksDB after another. */
    static final String FILE_SINGLE = "file-1";

    /** Group by group, each when the one before has ended, as a thread that hands its groups to RocksDB. */
    static final String FILE_GROUP = "file-64";
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

    private static final double CACHED_PART = 0.75;

    private interface Opening {
        Contestant open(Path directory) throws Exception;
    }

    private final YcsbPlan plan;
    private final FarCachePool memories;
    private final PrintWriter progress;
    private final CloseStack resources = new CloseStack();
    private final List<Entrant> open = new ArrayList<>();
    private final Map<String, String> absent = new LinkedHashMap<>();

    Contest(YcsbPlan plan, FarCachePool memories, PrintWriter progress) {
        this.plan = plan;
        this.memories = memories;
        this.progress = progress;
    }

    /**
     * Opens and loads the wanted contestants, in this order.
     *
     * @param localShare of a store's log in local memory, which is also the budget of the other contestants
     * @param distributions with which they take turns
     */
    void open(List<String> names, double localShare, List<KeyDistribution> distributions) throws IOException {
        for (String name : names) {
            if (plan.wants(name.equals(RESIZED) ? TIERED : name)) {
                open(name, localShare, distributions);
            }
        }
    }

    private void open(String name, double localShare, List<KeyDistribution> distributions) throws IOException {
        Path directory = resources
                .add(new ScratchDirectory(plan.directory(), "farheap-ycsb"))
                .path();
        try {
            long begun = System.nanoTime();
            Contestant contestant = resources.add(opening(name, localShare).open(directory));
            contestant.load();
            open.add(new Entrant(name, localShare, distributions, contestant));
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

    private Opening opening(String name, double localShare) throws PeerAbsentException {
        DataSet data = plan.data();
        // Stores that are open at a time have memories of their own.
        String memory = name + " " + localShare;
        return switch (name) {
            case LOCAL -> directory -> new StoreContestant(data, new MemoryStorage(), 1);
            case LOCAL_SINGLE -> directory -> StoreContestant.single(data, new MemoryStorage(), 1);
            case FAR ->
                directory ->
                        new StoreContestant(data, new FarStorage(data, memories.of(memory, room(data))), localShare);
            case FILE -> directory -> new StoreContestant(data, new FileStorage(data, directory), localShare);
            case FILE_SINGLE -> directory -> StoreContestant.single(data, new FileStorage(data, directory), localShare);
            case FILE_GROUP -> directory -> StoreContestant.group(data, new FileStorage(data, directory), localShare);
            case FAR_CACHED ->
                directory -> new StoreContestant(
                        data, new FarStorage(data, memories.of(memory, room(data))), localShare, CACHED_PART);
            case FAR_CAFFEINE -> farCaffeine(memory, localShare);
            case FILE_CACHED ->
                directory -> new StoreContestant(data, new FileStorage(data, directory), localShare, CACHED_PART);
            case FIO -> this::fio;
            case TIERED ->
                directory -> new StoreContestant(
                        data, new TieredStorage(data, directory, memories.of(memory, room(data))), localShare);
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
            case DB_BENCH -> directory -> new DbBench(data, budgetBytes(localShare), directory);
            default -> provided(name, localShare);
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
        if (contestant(FILE) instanceof StoreContestant store) {
            Device device = store.storage().device();
            int block = device.readAlignment();
            int blocks = (plan.data().recordBytes() + block - 1) / block;
            return new FioReads(plan.data(), directory, device.name(), StoreContestant.PENDING, blocks * block);
        }
        throw new PeerAbsentException("it stands beside " + FILE + ", which takes no part");
    }

    private Opening farCaffeine(String memory, double localShare) throws PeerAbsentException {
        DataSet data = plan.data();
        LocalCacheProvider provider = LocallyCachedStore.provider();
        return directory -> new LocallyCachedStore(
                data, new FarStorage(data, memories.of(memory, room(data))), localShare, CACHED_PART, provider);
    }

    private FarCacheProcess farMemory() throws PeerAbsentException {
        if (contestant(FAR) instanceof StoreContestant store && store.storage() instanceof FarStorage far) {
            return far.memory();
        }
        throw new PeerAbsentException("it reads the cache of " + FAR + ", which takes no part");
    }

    private Opening provided(String name, double localShare) throws PeerAbsentException {
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
        return open.stream()
                .filter(entrant -> entrant.contestant() instanceof StoreContestant)
                .mapToLong(entrant -> entrant.contestant().facts().indexBytes())
                .findFirst()
                .orElse(0);
    }

    /** Returns the local memory of a store: its part of the log, and its index. */
    private long budgetBytes(double localShare) {
        return Math.max(1, Math.round(localShare * plan.data().logBytes()) + indexBytes());
    }

    /**
     * Runs rounds in which each contestant has a turn with each number of threads and each distribution that it
     * supports. With each of these the order rotates, and so many rounds count that each contestant has each place
     * equally often. Rounds do not count until the last three turns of each result agree within 5%, or until there have
     * been {@value #MOST_WARM_UPS}.
     */
    List<ContestResult> run(List<KeyDistribution> distributions) {
        List<ContestRounds> loads = new ArrayList<>();
        for (KeyDistribution distribution : distributions) {
            for (int threads : plan.threads()) {
                ContestRounds rounds = new ContestRounds(plan, distribution, threads, open, this::budgetBytes);
                if (rounds.count() > 0) {
                    loads.add(rounds);
                }
            }
        }
        if (loads.isEmpty()) {
            return List.of();
        }
        Rotation rotation = new Rotation(loads.size());
        try (ModelLateness lateness = new ModelLateness(memories.addresses())) {
            for (int warmUp = 1;
                    warmUp <= MOST_WARM_UPS && !loads.stream().allMatch(ContestRounds::settled);
                    warmUp++) {
                for (int place : rotation.order(-warmUp)) {
                    loads.get(place).run(-warmUp, lateness);
                }
                progress.printf("warm-up %d of at most %d%n", warmUp, MOST_WARM_UPS)
                        .flush();
            }
            int most = loads.stream().mapToInt(ContestRounds::count).max().orElseThrow();
            for (int round = 0; round < most; round++) {
                for (int place : rotation.order(round)) {
                    if (round < loads.get(place).count()) {
                        loads.get(place).run(round, lateness);
                    }
                }
                progress.printf("round %d of %d%n", round + 1, most).flush();
            }
        }
        return loads.stream().flatMap(load -> load.results().stream()).toList();
    }

    /** Runs a contestant while another activity continues, until that has ended. */
    ContestResult runDuring(String name, int threads, String what, BooleanSupplier goesOn) {
        Entrant entrant = Objects.requireNonNull(entrant(name));
        Contestant contestant = entrant.contestant();
        List<KeyStream> streams =
                KeyStream.of(KeyDistribution.UNIFORM, plan.data().records(), threads);
        ContestResult result = new ContestResult(
                what, KeyDistribution.UNIFORM, threads, entrant.localShare(), budgetBytes(entrant.localShare()));
        try (ModelLateness lateness = new ModelLateness(memories.addresses())) {
            do {
                ContestTurn turn = TurnRunner.run(contestant, plan.workload(), streams, plan.resizeTurnNanos());
                result.add(turn, contestant, lateness);
            } while (goesOn.getAsBoolean());
        }
        return result;
    }

    /** Returns the first one of that name; null if it takes no part. */
    @Nullable
    Contestant contestant(String name) {
        Entrant entrant = entrant(name);
        return entrant == null ? null : entrant.contestant();
    }

    private @Nullable Entrant entrant(String name) {
        return open.stream()
                .filter(entrant -> entrant.name().equals(name))
                .findFirst()
                .orElse(null);
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
