package io.farheap.manager.service;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.Allocation;
import io.farheap.manager.CacheDescription;
import io.farheap.manager.CacheManager;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.Candidate;
import io.farheap.manager.Orders;
import io.farheap.manager.Quota;
import io.farheap.manager.ServerReport;
import io.farheap.manager.Share;
import io.farheap.manager.StoredModel;
import io.farheap.manager.Tenant;
import io.farheap.manager.allocation.Allocator;
import io.farheap.manager.allocation.Menu;
import io.farheap.manager.allocation.NoRoomException;
import io.farheap.manager.allocation.Prices;
import io.farheap.manager.allocation.Reallocator;
import io.farheap.manager.provider.Quote;
import io.farheap.manager.provider.ServerProvider;
import io.farheap.manager.state.CacheRecord;
import io.farheap.manager.state.Change;
import io.farheap.manager.state.State;
import io.farheap.manager.state.StateStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a manager knows and does. What must survive it is written before anybody hears of it; what servers report, and
 * which clients are there, is in memory alone, and a manager that starts anew hears it within seconds.
 *
 * <p>Thread-safe: one lock, which nobody holds while something is written. Somebody calls {@link #tick} a few times a
 * second.
 */
public final class Cluster implements CacheManager {

    private static final System.Logger LOG = System.getLogger(Cluster.class.getName());

    private final StateStore store;
    private final ManagerOptions options;
    private final LongSupplier nanos;
    private final LongSupplier millis;
    private final long callNanos;
    /** When this manager began to hear of servers. */
    private final long started;

    private final ReentrantLock lock = new ReentrantLock();
    private final Journal journal;
    private final Inbox inbox = new Inbox();
    private final Prices prices = new Prices(Menu.EMPTY);
    private final Rates rates = new Rates();
    private final Servers servers;
    private final Roll roll;
    private final Caches caches;
    private final Clients clients;
    private final Models models;
    private final Tenants tenants;
    private final Moves moves;
    private final Answers answers;
    private final Admission admission;
    private final Reallocations reallocations;
    private final Thrift thrift;
    private final Expiry expiry;
    private final Endings endings;
    private final Losses losses;
    private final Allocator allocator;
    private final Fleet fleet;
    private final Shopping shopping;
    private final Recruits recruits;
    private final Spares spares;
    private long ticked;

    /**
     * @param nanos a clock for time limits
     * @param millis the time of day, for what outlives this process
     */
    public Cluster(StateStore store, ManagerOptions options, LongSupplier nanos, LongSupplier millis) {
        this(store, options, nanos, millis, Recruits.CALL_NANOS);
    }

    /** @param callNanos for how long a call waits for room before it is to be repeated */
    Cluster(StateStore store, ManagerOptions options, LongSupplier nanos, LongSupplier millis, long callNanos) {
        this.callNanos = callNanos;
        this.store = store;
        this.options = options;
        this.nanos = nanos;
        this.millis = millis;
        this.started = nanos.getAsLong();
        this.ticked = started;
        Supply supply = options.supply();
        this.servers = new Servers(prices, rates, inbox, options.serverSilentNanos(), supply.spares() > 0);
        this.clients = new Clients(options.clientSilentNanos());
        this.journal = new Journal(store, lock, this::written, this::load);
        this.tenants = new Tenants(journal);
        this.caches = new Caches(servers, journal, tenants);
        this.models = new Models(journal);
        this.allocator = new Allocator(servers.stock(started), prices);
        Allocator reserve = supply.spares() > 0 ? new Allocator(servers.whole(started), prices) : allocator;
        this.expiry = new Expiry(caches, clients);
        this.endings = new Endings(caches, servers, clients, expiry, this::ended);
        this.moves = new Moves(caches, servers, clients, allocator, reserve, rates, endings);
        Condition changed = lock.newCondition();
        this.fleet = new Fleet(servers, lock, changed, nanos, supply.idleNanos(), this::answered);
        this.roll = new Roll(servers, journal, prices, fleet::isStopped, millis);
        this.shopping = new Shopping(fleet, allocator, prices, rates);
        this.recruits = new Recruits(fleet, shopping, changed, nanos, supply.startWaitNanos());
        this.spares = new Spares(supply.spares(), servers, caches, fleet, shopping);
        this.answers = new Answers(servers, millis);
        this.admission = new Admission(servers, spares, tenants, allocator, nanos, millis);
        Reallocator reallocator = new Reallocator(servers.stock(started), prices);
        this.reallocations = new Reallocations(
                caches, servers, tenants, moves, roll, spares, reallocator, shopping, options, nanos, millis);
        this.thrift = new Thrift(caches, servers, moves, allocator, prices, options);
        this.losses = new Losses(caches, servers, clients);
        load();
        caches.all().forEach(cache -> clients.claim(cache.id(), started));
    }

    /** Has what is on disk, and what was reported. */
    private void load() {
        State state = store.load();
        inbox.forgetAll();
        prices.change(state.menu().isEmpty() ? Menu.EMPTY : MenuFile.parse(state.menu()));
        roll.load(state.lives());
        state.servers().forEach(servers::put);
        models.load(state.models());
        tenants.load(state.tenants());
        caches.load(state.caches());
        servers.offerAnew();
        clients.loaded(caches.all().stream().map(CacheRecord::id));
        moves.loaded(nanos.getAsLong());
    }

    private void written(Change change) {
        caches.written(change);
    }

    /** Something with the lock, of which nobody hears before all that it has changed or seen is on disk. */
    private <T> T settled(Supplier<T> action) {
        T result;
        Journal.Group changes;
        lock.lock();
        try {
            journal.recover();
            inbox.read(this::hear);
            result = action.get();
            changes = journal.latest();
        } finally {
            lock.unlock();
        }
        Journal.await(changes);
        return result;
    }

    private void locked(Runnable action) {
        lock.lock();
        try {
            inbox.read(this::hear);
            action.run();
        } finally {
            lock.unlock();
        }
    }

    private void settled(Runnable action) {
        settled(() -> {
            action.run();
            return this;
        });
    }

    @Override
    public long hello(int protocolVersion) {
        if (protocolVersion != PROTOCOL_VERSION) {
            throw new ControlException(
                    Code.PROTOCOL_MISMATCH,
                    "the caller speaks version " + Integer.toUnsignedString(protocolVersion)
                            + " of the manager's protocol and the manager version " + PROTOCOL_VERSION
                            + "; run the same release on both");
        }
        return store.epoch();
    }

    @Override
    public Allocation allocate(CacheRequest request) {
        return supplied(
                request.cacheId(),
                () -> allocateNow(request),
                () -> admission.fits(request),
                () -> shopping.forNew(Admission.need(request)));
    }

    /**
     * Where there is no room for a cache, has others ended whose time is over, or servers started, and waits for them.
     *
     * @param fits whether there is room, with the lock
     * @param quotes which, with the lock
     */
    private Allocation supplied(
            long cacheId, Supplier<Allocation> action, BooleanSupplier fits, Supplier<Optional<Quote>> quotes) {
        long ends = System.nanoTime() + callNanos;
        while (true) {
            long seen = fleet.latest();
            try {
                return action.get();
            } catch (ControlException e) {
                if (!(e.getCause() instanceof NoRoomException)) {
                    throw e;
                }
                if (!makesRoom(cacheId, fits, seen, ends)) {
                    locked(() -> recruits.await(cacheId, quotes, e, seen, ends));
                }
            }
        }
    }

    /** @return whether caches were ended for one that finds no room, so that it is to try again */
    private boolean makesRoom(long cacheId, BooleanSupplier fits, long seen, long ends) {
        boolean coming = settled(() -> endings.makeRoom(cacheId, fits, nanos.getAsLong(), millis.getAsLong()));
        if (coming) {
            alert();
            locked(() -> recruits.awaitRoom(cacheId, seen, ends));
        }
        return coming;
    }

    /** Another cache needs the room of one whose time is over. */
    private void ended(long cacheId) {
        // Its servers are to hear of it.
        inbox.forgetAll();
        moves.forget(cacheId);
        recruits.forget(cacheId);
        endings.forget(cacheId);
    }

    private Allocation allocateNow(CacheRequest request) {
        return settled(() -> {
            caches.requireNotEnded(request.cacheId());
            CacheRecord known = caches.find(request.cacheId());
            if (known == null) {
                CacheRecord cache = admission.place(request);
                caches.put(cache);
                clients.claim(cache.id(), nanos.getAsLong());
                recruits.forget(cache.id());
                endings.forget(cache.id());
                return answers.allocation(cache);
            }
            Admission.requireSame(known, request);
            return answers.allocation(known);
        });
    }

    @Override
    public Allocation reallocate(long cacheId, long capacity, List<Candidate> candidates) {
        return supplied(
                cacheId,
                () -> settled(() -> {
                    CacheRecord cache = reallocations.reallocate(cacheId, capacity, candidates);
                    recruits.forget(cacheId);
                    endings.forget(cacheId);
                    return answers.allocation(cache);
                }),
                () -> reallocations.fits(cacheId, capacity, candidates),
                () -> reallocations.quote(cacheId, capacity, candidates));
    }

    @Override
    public Allocation reserve(long cacheId, String address, int regions) {
        return settled(() -> answers.allocation(reallocations.reserve(cacheId, address, regions)));
    }

    @Override
    public Allocation moved(
            long cacheId, long generation, long capacity, @Nullable Candidate candidate, List<Share> shares) {
        return settled(() -> answers.allocation(reallocations.moved(cacheId, generation, capacity, candidate, shares)));
    }

    @Override
    public CacheDescription extend(long cacheId, long lifetimeMillis) {
        CacheRequest.requireLifetime(lifetimeMillis);
        return settled(() -> {
            CacheRecord longer = caches.require(cacheId).until(admission.expiry(lifetimeMillis));
            caches.put(longer);
            return answers.description(longer);
        });
    }

    @Override
    public void deallocate(long cacheId) {
        settled(() -> {
            CacheRecord cache = caches.find(cacheId);
            recruits.forget(cacheId);
            if (cache != null) {
                remove(cache);
            }
        });
    }

    @Override
    public CacheDescription describe(long cacheId) {
        return settled(() -> answers.description(caches.require(cacheId)));
    }

    @Override
    public List<CacheDescription> list(long after, int most) {
        requirePage(most, "caches");
        return settled(() -> caches.after(after).values().stream()
                .limit(most)
                .map(answers::description)
                .toList());
    }

    private static void requirePage(int most, String what) {
        if (most < 1 || most > MAX_PAGE) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT, "a page of " + most + " " + what + "; it has 1 to " + MAX_PAGE);
        }
    }

    @Override
    public Tenant setQuota(String tenant, Quota quota) {
        return settled(() -> tenants.set(tenant, quota));
    }

    @Override
    public List<Tenant> tenants(String after, int most) {
        requirePage(most, "tenants");
        return settled(() -> tenants.after(after, most));
    }

    @Override
    public void putModel(String text) {
        // It takes its time, and so not with the lock.
        StoredModel model = StoredModel.of(text);
        settled(() -> models.put(model));
    }

    @Override
    public void removeModel(String key) {
        settled(() -> models.remove(key));
    }

    @Override
    public List<StoredModel> models(String after) {
        return settled(() -> models.after(after));
    }

    @Override
    public List<ServerReport> servers() {
        return settled(() -> {
            long now = nanos.getAsLong();
            List<ServerReport> reports = new ArrayList<>();
            servers.all().filter(server -> !servers.isSilent(server, now)).forEach(server -> {
                if (server.report != null) {
                    reports.add(server.report);
                }
            });
            return reports;
        });
    }

    @Override
    public Attendance attend(long clientId, Listener listener) {
        Clients.Line line = new Clients.Line(listener);
        return new Attendance() {
            @Override
            public void renew(Set<Long> cacheIds) {
                lock.lock();
                try {
                    clients.renew(line, cacheIds, nanos.getAsLong());
                    moves.alert(nanos.getAsLong());
                } finally {
                    lock.unlock();
                }
            }

            @Override
            public void close() {
                lock.lock();
                try {
                    clients.close(line);
                } finally {
                    lock.unlock();
                }
            }
        };
    }

    @Override
    public void drain(String address) {
        settled(() -> {
            long now = nanos.getAsLong();
            roll.drain(address, now);
            moves.plan(now, millis.getAsLong());
        });
        alert();
    }

    @Override
    public Orders report(ServerReport said) {
        if (!inbox.keep(said, nanos.getAsLong())) {
            return answered(said);
        }
        // Who has the lock reads it later.
        if (lock.tryLock()) {
            try {
                inbox.read(this::hear);
            } finally {
                lock.unlock();
            }
        }
        return Orders.NONE;
    }

    private Orders answered(ServerReport said) {
        Hearing hearing;
        Journal.Group changes;
        lock.lock();
        try {
            journal.recover();
            inbox.read(this::hear);
            hearing = hear(said, nanos.getAsLong());
            // Thousands of servers say each second what has not changed: they do not wait for the disk.
            if (!hearing.matters()) {
                return orders(hearing);
            }
            changes = journal.latest();
        } finally {
            lock.unlock();
        }
        Journal.await(changes);
        lock.lock();
        try {
            alertWithLock();
            return orders(hearing);
        } finally {
            lock.unlock();
        }
    }

    /**
     * A report that was heard.
     *
     * @param report what it counts as
     * @param drained the server was told to leave, and does not say that it does
     * @param matters others are to know of it
     */
    private record Hearing(Servers.Known server, ServerReport report, boolean drained, boolean matters) {}

    private Hearing hear(ServerReport said, long now) {
        ServerReport told = fleet.told(said, now);
        boolean drained = !told.leaving() && roll.isToLeave(told.serverId());
        ServerReport report = drained ? told.leavingWithin(told.noticeMillis()) : told;
        boolean changed = roll.report(report, now);
        if (changed) {
            spares.changed();
            fleet.reported(Objects.requireNonNull(servers.find(report.serverId())));
        }
        freeEnded(caches.ended().stream().filter(over -> report.ended().contains(over.id())), now);
        if (report.leaving()) {
            moves.plan(now, millis.getAsLong());
        }
        Servers.Known server = Objects.requireNonNull(servers.find(report.serverId()));
        return new Hearing(server, report, drained, changed || report.leaving());
    }

    private Orders orders(Hearing hearing) {
        Orders orders = new Orders(hearing.drained(), endings.of(hearing.server()));
        ServerReport report = hearing.report();
        // Whoever may have to end a cache later has to be answered.
        if (!report.leaving() && report.ended().isEmpty() && caches.ended().isEmpty()) {
            inbox.expect(report);
        }
        return orders;
    }

    /**
     * Starts servers where there is no room, from now on.
     *
     * @param managers HOST:PORT of this one, and others, with commas between
     * @return what its user closes, when this serves nobody any more
     * @throws IllegalArgumentException a setting makes no sense
     */
    ServerProvider use(ServerProvider.Factory factory, Map<String, String> settings, String managers) {
        ServerProvider provider = factory.open(settings, prices::menu, managers, fleet);
        if (provider.startsServers()) {
            locked(() -> fleet.use(provider));
        }
        return provider;
    }

    /**
     * Other prices from now on, which a manager that starts anew knows too.
     *
     * @param text as {@link MenuFile} describes it
     * @throws IllegalArgumentException saying what is wrong: then the one before stays
     */
    public void menu(String text) {
        Menu changed = MenuFile.parse(text);
        settled(() -> {
            if (!changed.equals(prices.menu())) {
                journal.add(new Change.PutMenu(text));
                prices.change(changed);
                servers.offerAnew();
            }
        });
    }

    /** Does what is due. A few times a second. */
    public void tick() {
        settled(() -> {
            long now = nanos.getAsLong();
            if (now - ticked > options.serverSilentNanos()) {
                // This process stood still, and so has not heard what was said.
                caches.all().forEach(cache -> clients.claim(cache.id(), now));
            }
            ticked = now;
            forgetAbandoned(now);
            freeEnded(caches.ended().stream(), now);
            endings.forgetLate(now);
            roll.writeLives();
            roll.forgetGone(now, now - started > options.clientSilentNanos(), options.clientSilentNanos());
            moves.endUnused(now);
            moves.plan(now, millis.getAsLong());
            thrift.plan(now, millis.getAsLong());
            spares.keep(now);
            recruits.help(moves.stuck(now, millis.getAsLong()), millis.getAsLong());
            recruits.forgetLate(now);
            fleet.stopIdle(now);
        });
        alert();
    }

    private void alert() {
        lock.lock();
        try {
            alertWithLock();
            long now = nanos.getAsLong();
            losses.alert(now, now - started <= options.serverSilentNanos());
        } finally {
            lock.unlock();
        }
    }

    private void alertWithLock() {
        moves.alert(nanos.getAsLong());
        expiry.alert(nanos.getAsLong(), millis.getAsLong());
        endings.alert();
    }

    private void freeEnded(Stream<CacheRecord> some, long now) {
        if (endings.free(some, now, started, options.clientSilentNanos())) {
            spares.changed();
            fleet.news();
        }
    }

    private void forgetAbandoned(long now) {
        List<CacheRecord> abandoned = clients.abandoned(now).stream()
                .map(caches::find)
                .filter(Objects::nonNull)
                .filter(cache -> servers.allKnown(cache, now, started, options.clientSilentNanos()))
                .toList();
        if (abandoned.isEmpty() || !servers.anyHeard(now)) {
            return;
        }
        Set<Long> held = servers.held(now);
        abandoned =
                abandoned.stream().filter(cache -> !held.contains(cache.id())).toList();
        for (CacheRecord cache : abandoned) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "cache " + Caches.hex(cache.id()) + " of " + cache.name() + " is given up: its client is gone");
            remove(cache);
        }
    }

    private void remove(CacheRecord cache) {
        caches.remove(cache);
        clients.forget(cache.id());
        moves.forget(cache.id());
        endings.forget(cache.id());
    }
}
