package io.farheap.cache;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.Status;
import io.farheap.cache.managed.ManagedCacheClient;
import io.farheap.cache.managed.ManagedModels;
import io.farheap.cache.objective.Tuning;
import io.farheap.cache.objective.Tunings;
import io.farheap.cache.session.CacheSessionOptions;
import io.farheap.latency.LatencyTracking;
import io.farheap.lifetime.Closeables;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheDescription;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.Reclaim;
import io.farheap.manager.Tenant;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.MigrationResult;
import io.farheap.resilience.contract.Health;
import io.farheap.resilience.contract.Resilience;
import io.farheap.slo.Explanation;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.PerformanceModel;
import io.farheap.slo.Slo;
import io.farheap.time.TimeLimit;
import io.farheap.verbs.PortOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Creates caches. Every setter returns the builder; {@link #create()} may be called more than once. */
public final class CacheBuilder {

    private static final int DEFAULT_REQUESTS = 512;
    private static final Duration LONGEST_PATIENCE = Duration.ofDays(1);

    private long capacity;
    private final List<String> servers = new ArrayList<>();
    private final List<String> managers = new ArrayList<>();
    private @Nullable Duration lifetime;
    private String place = "";
    private String tenant = "";
    private @Nullable Consumer<Duration> expiring;
    private PortOptions device = PortOptions.DEFAULT;
    private @Nullable Path file;
    private @Nullable LongConsumer loaded;
    private String name = "farheap-" + ProcessHandle.current().pid();
    private CacheConfiguration configuration = CacheConfiguration.DIRECT;
    private int requests = DEFAULT_REQUESTS;
    private int doorbellBatch = 1;
    private Duration patience = TimeLimit.of(Duration.ofSeconds(1));
    private LatencyTracking latencyTracking = LatencyTracking.NONE;
    private @Nullable LostServerListener lostListener;
    private @Nullable ReclaimListener reclaimListener;
    private MigrationOptions migration = MigrationOptions.DEFAULT;
    private List<PerformanceModel> models = List.of();
    private ManagedModels.@Nullable ModelWorkload workload;
    private @Nullable Slo slo;
    private double margin = Explanation.USUAL_MARGIN;
    private Duration period = Duration.ofSeconds(1);
    private @Nullable SloListener sloListener;
    private @Nullable Resilience resilience;
    private @Nullable Consumer<Health> healthListener;

    CacheBuilder() {}

    /**
     * The size of the cache in bytes, at least 1. Required. The cache takes whole regions of its servers, and addresses
     * beyond this size are refused nevertheless.
     */
    public CacheBuilder capacity(long bytes) {
        this.capacity = bytes;
        return this;
    }

    /**
     * Memory servers, as HOST:PORT. At least one is required, or a {@linkplain #manager manager}; a server process that
     * is named twice, also under different addresses, is refused.
     */
    public CacheBuilder servers(String... addresses) {
        return servers(List.of(addresses));
    }

    /** As {@link #servers(String...)}. */
    public CacheBuilder servers(List<String> addresses) {
        servers.addAll(addresses);
        return this;
    }

    /**
     * Cache managers, as HOST:PORT. The first that answers finds the servers, in place of {@link #servers}. If one of
     * these servers is about to leave, the cache moves by itself to others that the manager has found.
     */
    public CacheBuilder manager(String... addresses) {
        managers.addAll(List.of(addresses));
        return this;
    }

    /**
     * How long the cache is likely to be needed, for its manager; null, the default, for ever.
     *
     * @throws IllegalArgumentException if it is less than 1 ms
     */
    public CacheBuilder duration(@Nullable Duration likely) {
        // Checked here, so that the caller gets the exception from this call.
        long _ = CacheRequest.millis(likely);
        this.lifetime = likely;
        return this;
    }

    /**
     * Where this process is, for its manager, which finds servers near enough for the objective.
     *
     * @param where data center, cluster and rack, as {@code DC/CLUSTER/RACK}; empty, the default, if unknown: all
     *     servers are then assumed to be at the greatest distance
     */
    public CacheBuilder place(String where) {
        this.place = where;
        return this;
    }

    /**
     * The tenant that the cache belongs to, for its manager, which keeps a quota for each tenant. The name is not
     * verified. Without a manager it has no effect.
     *
     * @param name up to 64 letters, digits, dots, dashes and underscores; empty, the default, for the default tenant
     */
    public CacheBuilder tenant(String name) {
        this.tenant = Tenant.name(name);
        return this;
    }

    /**
     * The RDMA device to use, as {@code NAME} or {@code NAME:PORT}; by default the first usable one. Other settings of
     * {@link #device(PortOptions)} stay.
     */
    public CacheBuilder device(String name) {
        this.device = device.device(name);
        return this;
    }

    /** The RDMA device and its port, and how connections leave it: the address, the service level and others. */
    public CacheBuilder device(PortOptions port) {
        this.device = port;
        return this;
    }

    /** Fills the cache with the file's first bytes, as many as fit. Bytes beyond the file's end are zero. */
    public CacheBuilder file(Path file) {
        return file(file, null);
    }

    /**
     * As {@link #file(Path)}.
     *
     * @param loaded receives, on the creating thread, how many bytes have been loaded so far; or null
     */
    public CacheBuilder file(Path file, @Nullable LongConsumer loaded) {
        this.file = file;
        this.loaded = loaded;
        return this;
    }

    /** The client's name in servers' logs and in thread names. */
    public CacheBuilder name(String name) {
        this.name = name;
        return this;
    }

    /** How requests travel: threads, batches, queue depth. {@link CacheConfiguration#DIRECT} by default. */
    public CacheBuilder configuration(CacheConfiguration how) {
        this.configuration = how;
        return this;
    }

    /**
     * RDMA operations in flight on one connection, 1 to the device's limit; 64 by default. Changes this part of the
     * {@linkplain #configuration configuration} only.
     */
    public CacheBuilder queueDepth(int operations) {
        return configuration(configuration.withQueueDepth(operations));
    }

    /**
     * How many requests of a session may be between issue and callback: a power of two from 2 to 65,536;
     * {@value #DEFAULT_REQUESTS} by default. Calls of procedures are not among them.
     */
    public CacheBuilder requests(int requests) {
        this.requests = requests;
        return this;
    }

    /**
     * Writes of up to this many bytes, 172 by default, carry their data in the work request, so that the device need
     * not fetch it. A device that does not allow so many uses fewer. Changes this part of the
     * {@linkplain #configuration configuration} only.
     */
    public CacheBuilder inlineBytes(int bytes) {
        return configuration(configuration.withInlineBytes(bytes));
    }

    /**
     * Work requests that are posted as one list, with one doorbell: a request then waits until this many have been
     * issued to its server, or until the session is polled. 1, the default, posts each at once. Blocking requests never
     * wait.
     */
    public CacheBuilder doorbellBatch(int requests) {
        this.doorbellBatch = requests;
        return this;
    }

    /**
     * How long a request waits to be sent while the connection to its server has failed and is made again, a second by
     * default; then it ends as {@link Status#UNREACHABLE}. A read that was sent is sent again within that time; a write
     * that was sent ends as {@link Status#UNKNOWN} as soon as nothing of it can take effect any more. Requests that do
     * not overlap one that waits do not wait for it. It has no effect on coded caches.
     *
     * @param time 0, for no wait, to a day
     * @throws IllegalArgumentException if it is negative or longer
     */
    public CacheBuilder patience(Duration time) {
        if (time.isNegative() || time.compareTo(LONGEST_PATIENCE) > 0) {
            throw new IllegalArgumentException(
                    "a patience of " + time + "; it may be from 0 to " + LONGEST_PATIENCE.toHours() + " hours");
        }
        this.patience = time;
        return this;
    }

    /** Which requests are timed, from issue to callback; none by default. {@link Cache#latency} has the result. */
    public CacheBuilder trackLatency(LatencyTracking tracking) {
        this.latencyTracking = tracking;
        return this;
    }

    /** How regions move if a call does not specify it: by default chunk by chunk, so that writes hardly wait. */
    public CacheBuilder migration(MigrationOptions how) {
        this.migration = how;
        return this;
    }

    /**
     * Called when a server is lost, on a thread that it must not hold. Without a listener, a cache that is not coded
     * logs a warning that names the server, what was there, and the remedy.
     */
    public CacheBuilder onLost(LostServerListener listener) {
        this.lostListener = listener;
        return this;
    }

    /** Called when the cache moves off a server that is about to leave, as its manager has announced. */
    public CacheBuilder onReclaimed(ReclaimListener listener) {
        this.reclaimListener = listener;
        return this;
    }

    /**
     * Called with the remaining time when the cache's {@linkplain #duration lifetime} is about to end, half a minute
     * before, on a thread of its own; {@link Cache#extend} then extends it. A cache whose lifetime has ended continues
     * until other caches need its room: then it loses its memory, as if its servers were lost, and the {@link #onLost}
     * listener receives the reason. If its servers leave, the manager finds room for other caches first.
     */
    public CacheBuilder onExpiring(Consumer<Duration> listener) {
        this.expiring = listener;
        return this;
    }

    /**
     * The performance model of the device, in which a configuration is searched for an objective. With a manager
     * several models may be given, one for each distance: the manager chooses a configuration together with servers at
     * that distance. If none is given, the manager is asked for the models that it keeps for the device ({@code farheap
     * model put}); models of this machine's hardware are preferred.
     */
    public CacheBuilder model(PerformanceModel... measured) {
        this.models = List.of(measured);
        return this;
    }

    /**
     * The load that the manager's models have to be measured with. It may be omitted if all models of the device have
     * the same load.
     *
     * @param recordBytes bytes of each read and write
     * @param readPercent of the operations, from 0 to 100; the others are writes
     */
    public CacheBuilder workload(int recordBytes, int readPercent) {
        this.workload = new ManagedModels.ModelWorkload(recordBytes, readPercent);
        return this;
    }

    /**
     * The cache's objective: the cache runs with the cheapest configuration that meets it by its {@linkplain #model
     * model}, in place of the threads, batch and queue depth of {@link #configuration}. {@link Cache#explanation} names
     * the configuration; the application should use as many sessions, each with a thread of its own, as it has client
     * threads. The cache's performance is watched, so requests are timed, with {@link LatencyTracking#SPARSE} if
     * {@link #trackLatency} is not set.
     */
    public CacheBuilder slo(Slo objective) {
        this.slo = objective;
        return this;
    }

    /**
     * A margin for wrong predictions: by its prediction a configuration has to be better than the objective by this
     * share, a tenth by default.
     *
     * @param share at least 0: latencies have to be shorter, and throughputs higher, by the factor {@code 1 + share}
     */
    public CacheBuilder margin(double share) {
        this.margin = share;
        return this;
    }

    /**
     * How the cache's performance is watched: each period's averages are compared with its objective.
     *
     * @param period at least 1 ms; a second by default
     * @param listener receives the results, or null
     */
    public CacheBuilder watch(Duration period, @Nullable SloListener listener) {
        this.period = period;
        this.sloListener = listener;
        return this;
    }

    /**
     * Makes the cache survive the loss of servers: its pages are coded over k + r of its servers, each in another
     * failure domain ({@code farheap server --domain}); see {@link Resilience}. Lost parts are regenerated if another
     * of its servers has room. Its servers are named by address ({@link #servers}), and requests are executed one by
     * one: batches and a manager are refused, and queue depth, inline bytes, doorbell batch and migration options have
     * no effect. An {@linkplain #slo objective} needs a {@linkplain #model model} that was measured on caches with the
     * same mode, k, r, Δ and page size. The configuration found in it is the number of sessions that the application
     * should use, each with a thread of its own, and the number of requests ({@code queueDepth}) to keep in flight in
     * each. If too few failure domains have room, {@link #create()} throws {@link IllegalArgumentException}.
     *
     * <p>Sessions wait for each other's writes of a page, so a session with requests pending has to be polled. A thread
     * that blocks in one session while a write of its own to that page is pending in another waits for ever.
     */
    public CacheBuilder resilience(Resilience how) {
        this.resilience = how;
        return this;
    }

    /**
     * Receives a coded cache's {@linkplain Cache#health health} soon after slabs have become void, their regeneration
     * has begun or ended, or a server has become suspect or ceased to be; on a thread of its own. A listener that is
     * more than 64 changes behind misses the oldest of them.
     */
    public CacheBuilder onHealth(Consumer<Health> listener) {
        this.healthListener = listener;
        return this;
    }

    /**
     * Creates the cache as Redy does (table 1).
     *
     * @param bytes the capacity
     * @param objective as {@link #slo}
     * @param lifetime as {@link #duration}; without a manager it has no effect
     * @param file whose first bytes fill it, or null
     */
    public Cache create(long bytes, Slo objective, @Nullable Duration lifetime, @Nullable Path file) {
        this.file = file;
        return capacity(bytes).duration(lifetime).slo(objective).create();
    }

    /**
     * Creates the cache, or changes nothing.
     *
     * @throws io.farheap.slo.InfeasibleSloException if no configuration meets the objective; it contains the nearest
     *     objectives that can be met
     * @throws CacheException if a server or the manager refuses, there is not enough memory, or the cache cannot be
     *     filled from its file
     * @throws io.farheap.verbs.VerbsException if there is no device, or it refuses
     * @throws IllegalArgumentException if an option is missing or invalid, or options contradict each other
     */
    public Cache create() {
        if (!managers.isEmpty() && !servers.isEmpty()) {
            throw new IllegalArgumentException(
                    "a cache with both managers " + managers + " and servers " + servers + "; name either");
        }
        if (resilience != null) {
            refuseWithResilience();
            return new CodedCache(options(tuning(tunings(), null), null), resilience);
        }
        if (healthListener != null) {
            throw new IllegalArgumentException(
                    "a listener of health without resilience; give the cache some, or no listener");
        }
        List<Tuning> tunings = tunings();
        ManagedCacheClient management = managers.isEmpty() ? null : manage(tunings);
        try {
            return new RegionCache(options(tuning(tunings, management), management));
        } catch (Throwable e) {
            if (management != null) {
                Closeables.after(e, management);
            }
            throw e;
        }
    }

    private void refuseWithResilience() {
        if (!managers.isEmpty()) {
            throw new IllegalArgumentException("a coded cache with managers " + managers
                    + ", which find no servers for its slabs; name its servers by address");
        }
        if (configuration.batched()) {
            throw new IllegalArgumentException("a coded cache with the configuration " + configuration
                    + "; its requests go one by one: take a batch of 1");
        }
    }

    private List<Tuning> tunings() {
        if (slo == null) {
            return List.of();
        }
        List<PerformanceModel> known = known();
        String wanted = resilience == null ? ModelSubject.PLAIN : resilience.toString();
        known.forEach(model -> Tuning.check(model.subject(), wanted));
        return Tunings.of(known, slo, margin, period, sloListener == null ? null : sloListener::compared);
    }

    private List<PerformanceModel> known() {
        return models.isEmpty() && !managers.isEmpty() ? ManagedModels.ask(managers, device, workload) : models;
    }

    private static @Nullable Tuning tuning(List<Tuning> tunings, @Nullable ManagedCacheClient management) {
        if (tunings.isEmpty()) {
            return null;
        }
        return management == null ? tunings.getFirst() : Tunings.chosen(tunings, management.candidate());
    }

    private ManagedCacheClient manage(List<Tuning> tunings) {
        List<AllocationCandidate> candidates =
                tunings.isEmpty() ? List.of(AllocationCandidate.ANY) : Tunings.candidates(tunings);
        return ManagedCacheClient.allocate(
                managers, tenant, name, capacity, lifetime, place, candidates, migration, managementListener());
    }

    /** Uses the listeners that are set now: a later cache of this builder may have others. */
    private ManagedCacheClient.Listener managementListener() {
        ReclaimListener reclaims = reclaimListener;
        Consumer<Duration> expiry = expiring;
        return new ManagedCacheClient.Listener() {
            @Override
            public void reclaiming(Reclaim alert) {
                if (reclaims != null) {
                    reclaims.reclaiming(alert);
                }
            }

            @Override
            public void reclaimed(String server, MigrationResult moved, int left) {
                if (reclaims != null) {
                    reclaims.reclaimed(server, moved, left);
                }
            }

            @Override
            public void expiring(Duration left) {
                if (expiry != null) {
                    expiry.accept(left);
                }
            }

            @Override
            public void late(CacheDescription.LateMove move) {
                if (reclaims != null) {
                    reclaims.late(move.server(), move.lost(), Duration.ofMillis(move.leftMillis()));
                }
            }

            @Override
            public void wanted(String server, int regions) {
                if (reclaims != null) {
                    reclaims.wanted(server, regions);
                }
            }
        };
    }

    private CacheOptions options(@Nullable Tuning tuning, @Nullable ManagedCacheClient management) {
        boolean timed = tuning != null && latencyTracking == LatencyTracking.NONE;
        return new CacheOptions(
                capacity,
                management == null ? servers : management.servers(),
                device,
                file,
                loaded,
                tuning == null
                        ? configuration
                        : configuration.with(tuning.why().chosen().configuration()),
                new CacheSessionOptions(name, requests, doorbellBatch, patience.toNanos()),
                timed ? LatencyTracking.SPARSE : latencyTracking,
                lostListener,
                migration,
                tuning,
                management,
                healthListener);
    }
}
