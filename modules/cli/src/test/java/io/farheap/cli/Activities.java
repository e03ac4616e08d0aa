package io.farheap.cli;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheBuilder;
import io.farheap.cache.CacheSession;
import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.migration.MigrationOptions;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * All that a client may be doing when another process stops or ends. Most activities have a cache of their own, with a
 * region on each server.
 */
final class Activities {

    static final long REGION_BYTES = 256 << 10;

    private static final int REQUESTS = 16;
    private static final int REQUEST_BYTES = 8 << 10;
    private static final int SESSIONS = 4;
    private static final int READ_BYTES = 64;
    private static final long START_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final CacheConfiguration BATCHED = CacheConfiguration.DIRECT.with(0, 1, 16, 4);
    private static final CacheConfiguration HANDED_OVER = CacheConfiguration.DIRECT.with(1, 1, 8, 4);
    private static final List<CacheConfiguration> WAYS =
            List.of(CacheConfiguration.DIRECT, BATCHED, HANDED_OVER, CacheConfiguration.DIRECT.with(1, 0, 1, 8));
    /** Chunks so small that a region is being moved most of the time. */
    private static final MigrationOptions SLOWLY =
            MigrationOptions.DEFAULT.chunkBytes(4096).windowBytes(4096);

    private Activities() {}

    /**
     * One activity of each kind.
     *
     * @param servers two of them
     * @param mayBeLost how many servers may be lost, the first or both: requests to regions on others must not fail
     */
    static List<Activity> all(List<String> servers, int mayBeLost, SplittableRandom random) {
        List<Activity> all = new ArrayList<>(few(servers, mayBeLost, random));
        all.add(Activity.ofRequests("idle", new Idle(servers)));
        all.add(Activity.ofRequests(
                "load through client threads", new Load(cache(servers, HANDED_OVER), mayBeLost, random.split())));
        Shared second = new Shared(cache(servers, BATCHED));
        all.add(Activity.ofRequests(
                "batched load while a region moves", new Load(second, servers.size(), random.split())));
        all.add(Activity.ofCalls("migration from the second and back", new Migration(second, 1)));
        all.add(Activity.ofCalls("close", new Close(servers, random.split())));
        all.add(Activity.ofCalls(
                "reconfigure", new Reconfigure(cache(servers, CacheConfiguration.DIRECT), random.split())));
        return all;
    }

    /** One activity of each kind that a fault elsewhere could affect. */
    static List<Activity> few(List<String> servers, int mayBeLost, SplittableRandom random) {
        List<Activity> few = new ArrayList<>();
        few.add(Activity.ofRequests(
                "one-sided load", new Load(cache(servers, CacheConfiguration.DIRECT), mayBeLost, random.split())));
        few.add(Activity.ofRequests("batched load", new Load(cache(servers, BATCHED), mayBeLost, random.split())));
        Shared first = new Shared(cache(servers, CacheConfiguration.DIRECT));
        few.add(Activity.ofRequests(
                "one-sided load while a region moves", new Load(first, servers.size(), random.split())));
        few.add(Activity.ofCalls("migration from the first and back", new Migration(first, 0)));
        few.add(Activity.ofCalls(
                "allocate", () -> created(servers, CacheConfiguration.DIRECT).close()));
        few.add(Activity.ofCalls(
                "connect", new Connect(cache(servers, random.nextBoolean() ? BATCHED : CacheConfiguration.DIRECT))));
        return few;
    }

    /** A cache with a region on each server. On a machine that is busy with starting servers, a call may be late. */
    private static Cache cache(List<String> servers, CacheConfiguration how) {
        return patiently(() -> created(servers, how));
    }

    private static Cache created(List<String> servers, CacheConfiguration how) {
        return builder(servers).configuration(how).create();
    }

    private static Cache patiently(Supplier<Cache> creation) {
        long deadline = System.nanoTime() + START_NANOS;
        while (true) {
            try {
                return creation.get();
            } catch (CacheException e) {
                if (System.nanoTime() - deadline > 0) {
                    throw e;
                }
            }
        }
    }

    private static CacheBuilder builder(List<String> servers) {
        return Cache.builder()
                .capacity(servers.size() * REGION_BYTES)
                .servers(servers)
                .name("activity");
    }

    /** A cache that two activities use: the last that ends closes it. */
    private static final class Shared implements AutoCloseable {
        final Cache cache;
        private int users = 2;

        Shared(Cache cache) {
            this.cache = cache;
        }

        @Override
        public void close() {
            boolean last;
            synchronized (this) {
                last = --users == 0;
            }
            if (last) {
                cache.close();
            }
        }
    }

    /** Makes no requests. Its listener is called when a server is lost, which counts as a failure. */
    private static final class Idle implements Activity.Steps {
        private final Cache cache;
        private final CacheSession session;
        private volatile String lost;

        Idle(List<String> servers) {
            cache = patiently(() -> builder(servers)
                    .onLost((server, cause, regions) -> lost = server + ": " + cause)
                    .create());
            session = cache.openSession();
        }

        @Override
        public void step() {
            if (lost != null) {
                throw new CacheException(lost);
            }
        }

        @Override
        public void close() {
            try (cache;
                    session) {
                session.readBlocking(0, MemorySegment.ofArray(new byte[READ_BYTES]));
            }
        }
    }

    /** Reads and writes in all regions. */
    private static final class Load implements Activity.Steps {
        private final AutoCloseable owner;
        private final Cache cache;
        private final int mayBeLost;
        private final SplittableRandom random;
        private final Buffer buffer;
        private final Completion completion = this::ended;
        private CacheSession session;
        private int lost;

        /** @param mayBeLost how many regions may be lost, from the first on: requests to no other may fail */
        Load(Cache cache, int mayBeLost, SplittableRandom random) {
            this(cache, cache, mayBeLost, random);
        }

        Load(Shared shared, int mayBeLost, SplittableRandom random) {
            this(shared.cache, shared, mayBeLost, random);
        }

        private Load(Cache cache, AutoCloseable owner, int mayBeLost, SplittableRandom random) {
            this.cache = cache;
            this.owner = owner;
            this.mayBeLost = mayBeLost;
            this.random = random;
            this.buffer = cache.allocate(REQUESTS * REQUEST_BYTES);
        }

        @Override
        public void step() {
            if (session == null) {
                session = cache.openSession();
            }
            lost = 0;
            for (int request = 0; request < REQUESTS; request++) {
                int region = random.nextInt(cache.regions());
                int length = 1 + random.nextInt(random.nextInt(4) == 0 ? REQUEST_BYTES : READ_BYTES);
                long address = region * REGION_BYTES + random.nextLong(REGION_BYTES - length);
                long offset = (long) request * REQUEST_BYTES;
                while (!(random.nextBoolean()
                        ? session.write(address, buffer, offset, length, completion, region)
                        : session.read(address, buffer, offset, length, completion, region))) {
                    session.awaitProgress();
                }
            }
            session.drain();
            if (lost > 0) {
                session.close();
                session = null;
                throw new CacheException(lost + " of " + REQUESTS + " requests were lost");
            }
        }

        private void ended(long region, int status) {
            if (status != Status.OK) {
                lost++;
                if (region >= mayBeLost) {
                    throw new IllegalStateException("a request to region " + region + " ended with: "
                            + Status.describe(status) + "; its server is well");
                }
            }
        }

        @Override
        public void close() {
            try {
                if (session != null) {
                    session.close();
                }
                buffer.close();
            } finally {
                Activities.close(owner);
            }
        }
    }

    /** Moves one region to the other server and back. */
    private static final class Migration implements Activity.Steps {
        private final Shared shared;
        private final int region;

        Migration(Shared shared, int region) {
            this.shared = shared;
            this.region = region;
        }

        @Override
        public void step() {
            List<String> servers = shared.cache.servers();
            String to = servers.get(shared.cache.serverOf(region).equals(servers.get(0)) ? 1 : 0);
            shared.cache.migrate(List.of(region), to, SLOWLY);
        }

        @Override
        public void close() {
            shared.close();
        }
    }

    /** Opens a session, uses it once and closes it. */
    private static final class Connect implements Activity.Steps {
        private final Cache cache;

        Connect(Cache cache) {
            this.cache = cache;
        }

        @Override
        public void step() {
            try (CacheSession session = cache.openSession()) {
                for (int region = 0; region < cache.regions(); region++) {
                    session.readBlocking(region * REGION_BYTES, MemorySegment.ofArray(new byte[READ_BYTES]));
                }
            }
        }

        @Override
        public void close() {
            cache.close();
        }
    }

    /** Closes a cache whose sessions have requests in flight. */
    private static final class Close implements Activity.Steps {
        private final List<String> servers;
        private final SplittableRandom random;

        Close(List<String> servers, SplittableRandom random) {
            this.servers = servers;
            this.random = random;
        }

        @Override
        public void step() {
            try (Cache cache = created(servers, random.nextInt(4) == 0 ? CacheConfiguration.DIRECT : BATCHED)) {
                Buffer buffer = cache.allocate(REQUEST_BYTES);
                for (int session = 0; session < SESSIONS; session++) {
                    CacheSession opened = cache.openSession();
                    for (int region = 0; region < cache.regions(); region++) {
                        opened.write(region * REGION_BYTES, buffer, 0, READ_BYTES, (token, status) -> {}, 0);
                    }
                    opened.flush();
                }
            }
        }
    }

    /** Changes the configuration of a cache again and again. */
    private static final class Reconfigure implements Activity.Steps {
        private final Cache cache;
        private final SplittableRandom random;

        Reconfigure(Cache cache, SplittableRandom random) {
            this.cache = cache;
            this.random = random;
            cache.openSession();
        }

        @Override
        public void step() {
            cache.reconfigure(WAYS.get(random.nextInt(WAYS.size())));
        }

        @Override
        public void close() {
            cache.close();
        }
    }

    private static void close(AutoCloseable owner) {
        try {
            owner.close();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
