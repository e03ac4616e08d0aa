package io.farheap.manager.service;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.Allocation;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheDescription;
import io.farheap.manager.CacheManager;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.LeavingRate;
import io.farheap.manager.LifeEstimate;
import io.farheap.manager.Quota;
import io.farheap.manager.ReclaimOutcome;
import io.farheap.manager.RegionShare;
import io.farheap.manager.ReportReply;
import io.farheap.manager.ServerReport;
import io.farheap.manager.StoredModel;
import io.farheap.manager.Tenant;
import io.farheap.manager.allocation.Allocator;
import io.farheap.manager.allocation.Menu;
import io.farheap.manager.allocation.Prices;
import io.farheap.manager.allocation.Reallocator;
import io.farheap.manager.provider.Machine;
import io.farheap.manager.provider.ServerProvider;
import io.farheap.manager.service.caches.Caches;
import io.farheap.manager.service.caches.Clients;
import io.farheap.manager.service.caches.ClockJumps;
import io.farheap.manager.service.caches.ExpiredCacheReclaimer;
import io.farheap.manager.service.caches.ExpiryNotifier;
import io.farheap.manager.service.caches.Models;
import io.farheap.manager.service.caches.ServerLossNotifier;
import io.farheap.manager.service.caches.Tenants;
import io.farheap.manager.service.journal.Inbox;
import io.farheap.manager.service.journal.Journal;
import io.farheap.manager.service.journal.ManagerLock;
import io.farheap.manager.service.moves.CostRebalancer;
import io.farheap.manager.service.moves.PlannedMoves;
import io.farheap.manager.service.moves.PressureRelief;
import io.farheap.manager.service.requests.Admission;
import io.farheap.manager.service.requests.AllocationReplies;
import io.farheap.manager.service.requests.Claims;
import io.farheap.manager.service.requests.Reallocations;
import io.farheap.manager.service.requests.Removals;
import io.farheap.manager.service.requests.RoomFinder;
import io.farheap.manager.service.servers.FreeRoom;
import io.farheap.manager.service.servers.MachineEstimates;
import io.farheap.manager.service.servers.MigrationRates;
import io.farheap.manager.service.servers.ServerMembership;
import io.farheap.manager.service.servers.Servers;
import io.farheap.manager.service.servers.SpotLives;
import io.farheap.manager.service.supply.Fleet;
import io.farheap.manager.service.supply.MachineSelector;
import io.farheap.manager.service.supply.ServerProvisioner;
import io.farheap.manager.service.supply.SpareCapacity;
import io.farheap.manager.state.CacheRecord;
import io.farheap.manager.state.ManagerState;
import io.farheap.manager.state.StateChange;
import io.farheap.manager.state.StateStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A manager's knowledge and decisions. State that must survive the process is written before any caller can see it. The
 * reports of servers, and which clients are connected, are kept in memory only: after a restart servers report again
 * and clients connect again within seconds.
 *
 * <p>Thread-safe: one lock, which no thread holds during a write. The owner calls {@link #tick} a few times a second.
 */
public final class ClusterManager implements CacheManager {

    private static final System.Logger LOG = System.getLogger(ClusterManager.class.getName());

    /**
     * The most that one tick may add to the time for which this manager has listened; ticks come a few times a second.
     */
    private static final long LONGEST_TICK_NANOS = 60_000_000_000L;

    private final StateStore store;
    private final ManagerOptions options;
    private final LongSupplier nanos;
    private final LongSupplier millis;

    private final ManagerLock lock;
    private final Journal journal;
    private final Inbox inbox = new Inbox();
    private final Prices prices = new Prices(Menu.EMPTY);
    private final MigrationRates rates = new MigrationRates();
    private final Servers servers;
    private final ServerMembership roll;
    private final MachineEstimates estimates;
    private final SpotLives lives;
    private final Caches caches;
    private final Clients clients;
    private final Models models;
    private final Tenants tenants;
    private final PlannedMoves moves;
    private final AllocationReplies answers;
    private final Admission admission;
    private final Claims claims;
    private final Reallocations reallocations;
    private final CostRebalancer thrift;
    private final PressureRelief pressure;
    private final ClockJumps clock;
    private final ExpiryNotifier expiry;
    private final ExpiredCacheReclaimer endings;
    private final ServerLossNotifier losses;
    private final Removals removals;
    private final Allocator allocator;
    private final Fleet fleet;
    private final MachineSelector shopping;
    private final ServerProvisioner recruits;
    private final RoomFinder room;
    private final SpareCapacity spares;
    private final AtomicLong answered = new AtomicLong();
    private long ticked;
    /** Since when this manager has received reports of servers without a pause. */
    private long listening;

    /**
     * @param nanos a clock for time limits
     * @param millis the time of day, for times that outlive this process
     */
    public ClusterManager(StateStore store, ManagerOptions options, LongSupplier nanos, LongSupplier millis) {
        this(store, options, nanos, millis, ServerProvisioner.CALL_NANOS);
    }

    /** @param callNanos for how long a call waits for room before the client has to repeat it */
    public ClusterManager(
            StateStore store, ManagerOptions options, LongSupplier nanos, LongSupplier millis, long callNanos) {
        this.store = store;
        this.options = options;
        this.nanos = nanos;
        this.millis = millis;
        long started = nanos.getAsLong();
        this.ticked = started;
        this.listening = started;
        Supply supply = options.supply();
        ReentrantLock mutex = new ReentrantLock();
        this.servers = new Servers(
                prices, rates, inbox, options.serverSilentNanos(), options.forgetNanos(), supply.spares() > 0);
        this.clients = new Clients(options.clientSilentNanos(), started);
        this.journal = new Journal(store, mutex, this::written, this::load, nanos);
        this.lock = new ManagerLock(mutex, journal, inbox, this::hear);
        this.tenants = new Tenants(journal);
        this.caches = new Caches(servers, journal, tenants);
        this.models = new Models(journal);
        this.allocator = new Allocator(servers.stock(started), prices);
        Allocator reserve = supply.spares() > 0 ? new Allocator(servers.whole(started), prices) : allocator;
        this.clock = new ClockJumps(nanos, millis);
        this.expiry = new ExpiryNotifier(caches, clients, clock);
        this.endings = new ExpiredCacheReclaimer(caches, servers, clients, expiry, this::ended);
        this.lives = new SpotLives(servers, prices, options.earlyMoves());
        Condition changed = mutex.newCondition();
        this.fleet = new Fleet(servers, mutex, changed, nanos, supply.idleNanos(), this::answered);
        this.roll = new ServerMembership(servers, journal, prices, rates, fleet::isStopped, millis);
        this.estimates = new MachineEstimates(servers, prices, rates);
        this.shopping = new MachineSelector(fleet, allocator, reserve, prices, rates, supply.startWaitNanos());
        this.recruits = new ServerProvisioner(servers, fleet, shopping, changed, nanos, supply.startWaitNanos());
        long gone = options.clientSilentNanos();
        this.moves =
                new PlannedMoves(caches, servers, clients, allocator, reserve, lives, rates, endings, recruits, gone);
        this.room = new RoomFinder(lock, fleet, recruits, this::makeRoom, callNanos);
        this.spares = new SpareCapacity(supply.spares(), servers, caches, fleet, shopping);
        this.answers = new AllocationReplies(servers, expiry, moves, nanos, millis);
        this.admission = new Admission(servers, spares, tenants, allocator, lives, nanos, millis);
        this.claims = new Claims(caches, servers, roll, admission);
        Reallocator reallocator = new Reallocator(servers.stock(started), prices);
        boolean cheaper = options.cheaperMoves() > 0;
        this.reallocations = new Reallocations(
                caches, servers, tenants, moves, roll, spares, reallocator, lives, shopping, cheaper, nanos, millis);
        this.thrift = new CostRebalancer(
                caches, servers, moves, allocator, prices, lives, recruits::isWaiting, options.cheaperMoves());
        this.pressure = new PressureRelief(caches, servers, clients, moves, recruits::isWaiting);
        this.losses = new ServerLossNotifier(caches, servers, clients);
        this.removals = new Removals(caches, servers, clients, moves, endings);
        load(store.load());
        caches.all().forEach(cache -> clients.claim(cache.id(), started));
    }

    /** Applies the state on disk to what was reported. */
    private void load(ManagerState state) {
        // Reports are refused while the memory is ahead of the disk.
        listening = nanos.getAsLong();
        inbox.forgetAll();
        prices.change(state.menu().isEmpty() ? Menu.EMPTY : MenuFile.parse(state.menu()));
        roll.load(state.lives());
        servers.load(state.servers(), nanos.getAsLong());
        models.load(state.models());
        tenants.load(state.tenants());
        caches.load(state.caches());
        servers.offerAnew();
        lives.reloaded();
        lives.observe(nanos.getAsLong(), millis.getAsLong());
        clients.loaded(caches.all().stream().map(CacheRecord::id));
        moves.loaded(nanos.getAsLong());
    }

    private void written(StateChange change) {
        caches.written(change);
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
        return room.find(request.cacheId(), () -> allocateNow(request), () -> admission.room(request), () -> {
            helpLeavingFirst();
            return shopping.forNew(Admission.need(request));
        });
    }

    /** Caches on servers that leave come first: what a provider has is started for them before it is for others. */
    private void helpLeavingFirst() {
        if (moves.isAnyNewlyStuck() || recruits.hasNews()) {
            helpLeaving();
        }
    }

    private void helpLeaving() {
        long now = millis.getAsLong();
        recruits.help(() -> moves.stuck(nanos.getAsLong(), now), moves::isStuck, now);
    }

    private boolean makeRoom(long forCache, Supplier<Optional<FreeRoom>> room) {
        boolean coming = lock.settled(() -> {
            CacheRecord cache = caches.find(forCache);
            // A new cache can use regions of any size.
            long regionBytes = cache == null ? 0 : cache.regionBytes();
            boolean ends = endings.makeRoom(forCache, regionBytes, false, room, nanos.getAsLong(), millis.getAsLong());
            if (ends) {
                recruits.waits(forCache, room);
            }
            return ends;
        });
        if (coming) {
            alert();
        }
        return coming;
    }

    /** A cache that has outlived its time was ended, since another cache needs its room. */
    private void ended(long cacheId) {
        // The next report of each server has to be answered, so that its servers receive the end.
        inbox.forgetAll();
        moves.forget(cacheId);
        recruits.forget(cacheId);
        endings.forget(cacheId);
    }

    /** Room that has become free is for regions that would be lost, then for caches that have waited for longer. */
    private void serveBefore(long cacheId) {
        if (!moves.planStuck(nanos.getAsLong(), millis.getAsLong())) {
            recruits.asksAgain(cacheId);
            throw new ControlException(
                    Code.BUSY,
                    "room has become free, and caches on servers that leave look for it first; ask again in a moment");
        }
        recruits.serveEarlier(cacheId);
    }

    private Allocation allocateNow(CacheRequest request) {
        return lock.settled(() -> {
            caches.requireNotEnded(request.cacheId());
            CacheRecord known = caches.find(request.cacheId());
            if (known == null) {
                serveBefore(request.cacheId());
                CacheRecord cache = admission.place(request);
                caches.put(cache);
                expiry.ends(cache, millis.getAsLong());
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
    public Allocation reallocate(long cacheId, long capacity, List<AllocationCandidate> candidates) {
        Reallocations.requireFew(candidates);
        return room.find(
                cacheId,
                () -> lock.settled(() -> {
                    serveBefore(cacheId);
                    CacheRecord cache = reallocations.reallocate(cacheId, capacity, candidates);
                    recruits.forget(cacheId);
                    endings.forget(cacheId);
                    return answers.allocation(cache);
                }),
                () -> reallocations.room(cacheId, capacity, candidates),
                () -> {
                    helpLeavingFirst();
                    return reallocations.order(cacheId, capacity, candidates);
                });
    }

    @Override
    public Allocation reserve(long cacheId, String address, int regions) {
        return lock.settled(() -> {
            if (reallocations.renew(cacheId, address, regions)) {
                return answers.allocation(caches.require(cacheId));
            }
            // An application's move would end if it were refused for a moment.
            moves.planStuck(nanos.getAsLong(), millis.getAsLong());
            recruits.serveEarlier(cacheId);
            return answers.allocation(reallocations.reserve(cacheId, address, regions));
        });
    }

    @Override
    public Allocation moved(
            long cacheId,
            long generation,
            long capacity,
            @Nullable AllocationCandidate candidate,
            List<RegionShare> shares,
            @Nullable ReclaimOutcome outcome) {
        return lock.settled(() ->
                answers.allocation(reallocations.moved(cacheId, generation, capacity, candidate, shares, outcome)));
    }

    @Override
    public Allocation claim(CacheRequest terms, long generation, long regionBytes, List<RegionShare> shares) {
        return lock.settled(() -> {
            CacheRecord known = caches.find(terms.cacheId());
            if (known == null) {
                long now = nanos.getAsLong();
                known = claims.takeUp(terms, generation, regionBytes, shares, now);
                caches.put(known);
                expiry.ends(known, millis.getAsLong());
                clients.claim(known.id(), now);
                moves.plan(now, millis.getAsLong());
            }
            return answers.allocation(known);
        });
    }

    @Override
    public CacheDescription extend(long cacheId, long lifetimeMillis) {
        CacheRequest.requireLifetime(lifetimeMillis);
        return lock.settled(() -> {
            CacheRecord longer = caches.require(cacheId).until(admission.expiry(lifetimeMillis));
            caches.put(longer);
            expiry.ends(longer, millis.getAsLong());
            return answers.description(longer);
        });
    }

    @Override
    public void deallocate(long cacheId) {
        lock.settled(() -> {
            CacheRecord cache = caches.find(cacheId);
            recruits.forget(cacheId);
            if (cache != null) {
                removals.remove(cache);
            }
        });
    }

    @Override
    public CacheDescription describe(long cacheId) {
        return lock.settled(() -> answers.description(caches.require(cacheId)));
    }

    @Override
    public List<CacheDescription> list(long after, int most) {
        requirePage(most, "caches");
        return lock.settled(() -> caches.after(after).values().stream()
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
        return lock.settled(() -> tenants.set(tenant, quota));
    }

    @Override
    public List<Tenant> tenants(String after, int most) {
        requirePage(most, "tenants");
        return lock.settled(() -> tenants.after(after, most));
    }

    @Override
    public void putModel(String text) {
        // Parsing takes its time, so it is done without the lock.
        StoredModel model = StoredModel.of(text);
        lock.settled(() -> models.put(model));
    }

    @Override
    public void removeModel(String key) {
        lock.settled(() -> models.remove(key));
    }

    @Override
    public List<StoredModel> models(String after) {
        return lock.settled(() -> models.after(after));
    }

    @Override
    public List<ServerReport> servers() {
        return lock.settled(() -> {
            long now = nanos.getAsLong();
            List<ServerReport> reports = new ArrayList<>();
            servers.all().filter(server -> !servers.isSilent(server, now)).forEach(server -> {
                if (server.report != null) {
                    reports.add(server.report.unplaced(pressure.unplaced(server.record.id())));
                }
            });
            return reports;
        });
    }

    @Override
    public List<LifeEstimate> lives() {
        return lock.settled(() -> {
            long time = millis.getAsLong();
            lives.observe(nanos.getAsLong(), time);
            return estimates.lives(lives.ending(), nanos.getAsLong(), time);
        });
    }

    @Override
    public List<LeavingRate> rates() {
        return lock.settled(estimates::rates);
    }

    @Override
    public Attendance attend(long clientId, Listener listener) {
        Clients.ClientLine line = new Clients.ClientLine(listener);
        return new Attendance() {
            @Override
            public void renew(Set<Long> cacheIds) {
                lock.held(() -> {
                    clients.renew(line, cacheIds, nanos.getAsLong());
                    if (lock.isCurrent()) {
                        endings.claimed(line, cacheIds);
                        claims.compare(line, cacheIds, nanos.getAsLong());
                        moves.alert(nanos.getAsLong());
                    }
                });
            }

            @Override
            public void close() {
                lock.held(() -> clients.close(line));
            }
        };
    }

    @Override
    public void drain(String address) {
        lock.settled(() -> {
            long now = nanos.getAsLong();
            roll.drain(address, now);
            moves.plan(now, millis.getAsLong());
        });
        alert();
    }

    @Override
    public void forget(String address) {
        lock.settled(() -> {
            long now = nanos.getAsLong();
            listens(now);
            roll.forget(address, mayBeDeaf(now), now);
            forgetGone(now);
        });
    }

    /** Frees what servers that are gone have of caches without a client and of ended ones, and forgets such servers. */
    private void forgetGone(long now) {
        removals.removeAbandoned(now);
        freeEnded(caches.ended().stream());
        roll.forgetGone(now);
    }

    @Override
    public ReportReply report(ServerReport said) {
        long now = nanos.getAsLong();
        if (inbox.keep(said, now)) {
            lock.tryRead();
            return ReportReply.NONE;
        }
        answered.incrementAndGet();
        try {
            if (!lock.isReading()) {
                return answered(said);
            }
        } catch (ControlException e) {
            if (e.code() != Code.UNAVAILABLE || !lock.isReading()) {
                throw e;
            }
        }
        // A server that is heard is not silent, though what it says cannot be used before the state was read again.
        inbox.hold(said, now);
        return ReportReply.NONE;
    }

    private ReportReply answered(ServerReport said) {
        record Answer(ProcessedReport hearing, @Nullable ReportReply orders) {}
        // Thousands of servers report unchanged state each second: these reports do not wait for the disk.
        Answer first = lock.settled(
                () -> {
                    ProcessedReport hearing = hear(said, nanos.getAsLong());
                    return new Answer(hearing, hearing.matters() ? null : orders(hearing));
                },
                answer -> answer.orders() == null);
        if (first.orders() != null) {
            return first.orders();
        }
        return lock.held(() -> {
            alertWithLock();
            return orders(first.hearing());
        });
    }

    /**
     * A report that was processed.
     *
     * @param report the report as the manager counts it
     * @param drained whether the server must leave and does not report that it does
     * @param matters whether it changes state that others see, so that the answer waits for the disk
     */
    private record ProcessedReport(Servers.KnownServer server, ServerReport report, boolean drained, boolean matters) {}

    private ProcessedReport hear(ServerReport said, long now) {
        ServerReport told = fleet.told(said, now);
        boolean drained = !told.leaving() && roll.isToLeave(told.serverId());
        ServerReport report = drained ? told.leavingWithin(told.noticeMillis()) : told;
        boolean changed = roll.report(report, now);
        if (changed) {
            spares.changed();
            fleet.reported(Objects.requireNonNull(servers.find(report.serverId())));
        }
        freeEnded(caches.ended().stream().filter(over -> report.ended().contains(over.id())));
        Servers.KnownServer server = Objects.requireNonNull(servers.find(report.serverId()));
        endings.freeLate(server);
        if (endings.concern(server)) {
            inbox.forget(server.record.id());
        }
        if (report.leaving() && changed) {
            // It may also be the target of moves off other servers.
            moves.plan(now, millis.getAsLong());
        } else if (report.leaving()) {
            moves.plan(server, now, millis.getAsLong());
        }
        return new ProcessedReport(server, report, drained, changed || report.leaving());
    }

    private ReportReply orders(ProcessedReport hearing) {
        ServerReport report = hearing.report();
        int promised = report.wantedRegions() > 0 && Servers.isPressed(hearing.server())
                ? pressure.promised(hearing.server(), nanos.getAsLong())
                : ReportReply.UNKNOWN;
        ReportReply orders = new ReportReply(hearing.drained(), endings.of(hearing.server()), promised);
        // A server that was drained while its report was being written is notified with its next report, when that is
        // on disk.
        boolean stays = !report.leaving() && !roll.isToLeave(report.serverId());
        // The reports of a server that has to end a cache, or has ended it, have to be answered.
        if (stays && report.ended().isEmpty() && !endings.concern(hearing.server())) {
            inbox.expect(report);
        }
        return orders;
    }

    /**
     * From now on, starts servers if there is no room.
     *
     * @param managers HOST:PORT of this manager and of others, separated by commas
     * @return the provider, which the caller closes after this manager has stopped serving
     * @throws IllegalArgumentException if a setting is invalid
     */
    public ServerProvider use(ServerProvider.Factory factory, Map<String, String> settings, String managers) {
        ServerProvider provider = factory.open(settings, prices::menu, managers, fleet);
        if (provider.startsServers()) {
            lock.locked(() -> fleet.use(provider));
        }
        return provider;
    }

    /**
     * Replaces the prices, also for managers that start later.
     *
     * @param text as {@link MenuFile} describes it
     * @throws IllegalArgumentException with what is wrong: then the earlier menu stays
     */
    public void menu(String text) {
        Menu changed = MenuFile.parse(text);
        lock.settled(() -> {
            if (!changed.equals(prices.menu())) {
                journal.add(new StateChange.PutMenu(text));
                prices.change(changed);
                servers.offerAnew();
            }
        });
    }

    /** Returns how often room was looked for, for caches that leave servers. */
    long searches() {
        return lock.held(moves::searches);
    }

    /** Returns how many expired caches were looked at, as often as each was. */
    long looks() {
        return lock.held(endings::looks);
    }

    /** Returns how often the time of day was moved against the monotonic clock. */
    long clockJumps() {
        return lock.held(clock::count);
    }

    /** Returns how many reports were more than repetitions that need no answer. */
    long answered() {
        return answered.get();
    }

    /** Returns how often all servers were looked at. */
    long passes() {
        return lock.held(servers::passes);
    }

    /** Does the work that is due. Called a few times a second. */
    public void tick() {
        lock.settled(() -> {
            long now = nanos.getAsLong();
            listens(now);
            clock.look();
            removals.removeAbandoned(now);
            freeEnded(caches.ended().stream());
            endings.forgetLate(now, millis.getAsLong());
            if (rates.settle(now, moves::left)) {
                // What can leave a spot server within its notice has changed.
                servers.offerAnew();
            }
            claims.forgetGone(now);
            roll.writeLives();
            roll.forgetGone(now);
            lives.observe(now, millis.getAsLong());
            moves.endUnused(now);
            moves.plan(now, millis.getAsLong());
            pressure.plan(now, millis.getAsLong());
            thrift.plan(now, millis.getAsLong());
            spares.keep(now);
            helpLeaving();
            recruits.forgetLate(now);
            fleet.findIdle(now).forEach(roll::stops);
            if (fleet.hasIdle()) {
                journal.confirm();
            }
        });
        // What was chosen is on disk, so this manager leads and no cache will be placed there.
        lock.held(() -> lock.isCurrent() ? fleet.takeIdle() : List.<Machine>of())
                .forEach(this::stop);
        alert();
    }

    /** Adds the time since the last call to that for which this manager has listened. */
    private void listens(long now) {
        if (now - ticked > options.serverSilentNanos()) {
            // This process stood still, so it has not received what clients sent meanwhile: their claims count as
            // renewed.
            caches.all().forEach(cache -> clients.claim(cache.id(), now));
            moves.stoodStill(now);
            listening = now;
        } else {
            // A process that stood still for longer has not listened during all of that time.
            servers.listened(Math.min(now - ticked, LONGEST_TICK_NANOS), now);
        }
        clients.listened(now);
        moves.listened(now);
        ticked = now;
    }

    /** Whether this manager has not listened for long enough to count a server as silent. */
    private boolean mayBeDeaf(long now) {
        return now - listening <= options.serverSilentNanos();
    }

    /** A provider that throws for one machine must not keep the others running. */
    private void stop(Machine machine) {
        try {
            machine.stop();
        } catch (RuntimeException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "a machine of type " + machine.lot() + " cannot be stopped, and is tried again: " + e.getMessage());
            lock.held(() -> fleet.notStopped(machine));
        }
    }

    private void alert() {
        lock.held(() -> {
            alertWithLock();
            long now = nanos.getAsLong();
            if (lock.isCurrent()) {
                expiry.alert(now, millis.getAsLong());
                losses.alert(now, mayBeDeaf(now));
                moves.alertLate(now);
                pressure.alert();
            }
        });
    }

    /** Nobody is notified of what may not be on disk. */
    private void alertWithLock() {
        if (lock.isCurrent()) {
            moves.alert(nanos.getAsLong());
            endings.alert();
        }
    }

    private void freeEnded(Stream<CacheRecord> some) {
        if (endings.free(some)) {
            spares.changed();
            fleet.news();
        }
    }
}
