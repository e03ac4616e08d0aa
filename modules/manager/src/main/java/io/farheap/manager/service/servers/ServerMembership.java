package io.farheap.manager.service.servers;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.ServerReport;
import io.farheap.manager.allocation.Prices;
import io.farheap.manager.allocation.SurvivalEstimator;
import io.farheap.manager.service.journal.Journal;
import io.farheap.manager.state.LifeRecord;
import io.farheap.manager.state.ServerRecord;
import io.farheap.manager.state.StateChange;
import io.farheap.memory.Plurals;
import java.security.SecureRandom;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * Servers that join, are asked to leave, and are gone, and what of this is written to disk. A server whose record says
 * that it leaves never stays again, so a manager that leads later asks it to leave, too. Guarded by the manager's lock.
 */
public final class ServerMembership {

    private static final System.Logger LOG = System.getLogger(ServerMembership.class.getName());

    private static final long NANOS_PER_MILLI = 1_000_000;

    private final Servers servers;
    private final Journal journal;
    private final Prices prices;
    private final MigrationRates rates;
    private final LongPredicate stopped;
    private final LongSupplier millis;
    private final SecureRandom ids = new SecureRandom();
    /** Types of which more lives were observed than were written, or faster or slower moves. */
    private final Set<String> changed = new TreeSet<>();

    /**
     * @param stopped whether the manager itself has stopped a server
     * @param millis the time of day
     */
    public ServerMembership(
            Servers servers,
            Journal journal,
            Prices prices,
            MigrationRates rates,
            LongPredicate stopped,
            LongSupplier millis) {
        this.servers = servers;
        this.journal = journal;
        this.prices = prices;
        this.rates = rates;
        this.stopped = stopped;
        this.millis = millis;
    }

    /** Loads the lives and rates that earlier managers have observed and written. */
    public void load(List<LifeRecord> lives) {
        changed.clear();
        prices.forgetLives();
        rates.load(lives.stream()
                .filter(life -> life.bytesPerSecond() > 0)
                .collect(Collectors.toMap(LifeRecord::type, LifeRecord::bytesPerSecond)));
        for (LifeRecord life : lives) {
            prices.life(life.type())
                    .load(
                            life.sinceHours(),
                            life.seen().stream()
                                    .map(one -> new SurvivalEstimator.SurvivalObservation(
                                            one.hours(), one.ended(), one.longer(), one.atHours()))
                                    .toList());
        }
    }

    /**
     * Writes the lives and rates that were observed since the last call: one write for each type, however many servers
     * have ended.
     */
    public void writeLives() {
        changed.addAll(rates.takeChanged());
        for (String type : changed) {
            SurvivalEstimator life = prices.life(type);
            List<LifeRecord.LifeSample> seen = life.seen().stream()
                    .map(one -> new LifeRecord.LifeSample(one.hours(), one.ended(), one.longer(), one.at()))
                    .toList();
            journal.add(new StateChange.PutLife(new LifeRecord(type, life.since(), seen, rates.observed(type))));
        }
        changed.clear();
    }

    /**
     * Returns the server at an address.
     *
     * @throws ControlException NOT_FOUND if no server there reports and takes caches
     */
    public Servers.KnownServer staying(String address, long now) {
        return servers.all()
                .filter(server -> isAt(server, address, now) && !server.record.leaving())
                .findFirst()
                .orElseThrow(() -> new ControlException(
                        Code.NOT_FOUND, "no memory server " + address + " reports that takes caches"));
    }

    private boolean isAt(Servers.KnownServer server, String address, long now) {
        return server.record.address().equals(address) && !servers.isSilent(server, now);
    }

    /** Whether a server has reported that it leaves, or was asked to leave. */
    public boolean isToLeave(long serverId) {
        Servers.KnownServer known = servers.find(serverId);
        return known != null && known.record.leaving();
    }

    /**
     * The server at an address takes no more caches, and is asked to leave.
     *
     * @throws ControlException NOT_FOUND if no server there reports
     */
    public void drain(String address, long now) {
        Servers.KnownServer server = servers.all()
                .filter(one -> isAt(one, address, now))
                .findFirst()
                .orElseThrow(() -> new ControlException(
                        Code.NOT_FOUND,
                        "no memory server " + address + " reports; name one as farheap top shows it, as HOST:PORT"));
        if (!server.record.leaving()) {
            LOG.log(System.Logger.Level.INFO, "memory server " + address + " is asked to leave");
            ServerReport last = Objects.requireNonNull(server.report);
            // How long it would have lived remains unknown.
            report(last.leavingWithin(last.noticeMillis()), server.reportedAt, false);
        }
    }

    /**
     * The silent servers at an address are given up: what they hold counts as free from now on, and a server that holds
     * nothing is forgotten. One that reports again is a server as before.
     *
     * @param mayBeDeaf whether this manager has not listened for long enough to count a server as silent
     * @throws ControlException NOT_FOUND if no server was there; INVALID_ARGUMENT if one reports from there; BUSY if
     *     one may not have found this manager yet, or the manager itself may be cut off
     */
    public void forget(String address, boolean mayBeDeaf, long now) {
        List<Servers.KnownServer> there = servers.all()
                .filter(server -> server.record.address().equals(address))
                .toList();
        if (there.isEmpty()) {
            throw new ControlException(
                    Code.NOT_FOUND, "no memory server " + address + " is known; name one as HOST:PORT");
        }
        if (there.stream().anyMatch(server -> !servers.isSilent(server, now))) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT,
                    "memory server " + address + " reports, so it is not given up; let it leave with 'farheap manager "
                            + "drain', or stop it");
        }
        if (there.stream().anyMatch(server -> servers.isAwaited(server, now))) {
            throw new ControlException(
                    Code.BUSY,
                    "memory server " + address + " may not have found this manager yet, which has just begun to lead; "
                            + "ask again in a minute");
        }
        boolean others =
                servers.all().anyMatch(server -> !server.record.address().equals(address) && !servers.isGone(server));
        if (mayBeDeaf || others && !servers.anyHeard(now)) {
            throw new ControlException(
                    Code.BUSY,
                    "no memory server reports to this manager, which may have stood still or be cut off itself, so it "
                            + "gives none up; ask again when another one reports");
        }
        for (Servers.KnownServer server : there) {
            if (!server.record.forgotten()) {
                LOG.log(
                        System.Logger.Level.WARNING,
                        "memory server " + address + " is given up, as asked for: what it holds of "
                                + Plurals.of(server.caches().size(), "cache") + " counts as lost");
                journal.add(new StateChange.PutServer(server.record.forget()));
                servers.put(server.record.forget());
            }
        }
    }

    /**
     * Returns a server at an address that is not there any more, and of which regions are counted as lost: one that was
     * there, else a record in its place, which is forgotten with the regions.
     */
    public long absent(String address, long regionBytes, int regions, long now) {
        return servers.all()
                .filter(one -> one.record.address().equals(address)
                        && one.report == null
                        && one.record.regionBytes() == regionBytes
                        && !servers.isAwaited(one, now))
                .map(one -> one.record.id())
                .findFirst()
                .orElseGet(() -> {
                    ServerRecord absent =
                            Servers.absent(ids.nextLong(), address, millis.getAsLong(), regionBytes, regions);
                    journal.add(new StateChange.PutServer(absent));
                    servers.put(absent);
                    return absent.id();
                });
    }

    /**
     * A server that the manager itself has stopped takes no more caches from now on, before it reports that it leaves.
     */
    public void stops(Servers.KnownServer server) {
        ServerReport last = server.report;
        if (last != null && servers.find(server.record.id()) != null) {
            report(last.leavingWithin(last.noticeMillis()), server.reportedAt);
        }
    }

    /**
     * A server has reported.
     *
     * @return whether the server's record has changed
     */
    public boolean report(ServerReport report, long now) {
        return report(report, now, true);
    }

    /** @param ends whether a server whose life ends with this report has ended; if not, it was asked to leave */
    private boolean report(ServerReport report, long now, boolean ends) {
        Servers.KnownServer before = servers.find(report.serverId());
        ServerReport last = before == null ? null : before.report;
        boolean changed = changes(report, ends);
        servers.report(Objects.requireNonNull(servers.find(report.serverId())), report, now);
        if (report.leaving() && last != null && last.leaving() && !last.held().equals(report.held())) {
            LOG.log(System.Logger.Level.INFO, "memory server " + report.address() + " leaves: " + holdings(report));
        }
        return changed;
    }

    /** Returns what caches have on a server by its report, as the rest of a sentence. */
    private static String holdings(ServerReport report) {
        int regions =
                report.held().values().stream().mapToInt(Integer::intValue).sum();
        int caches = report.held().size();
        return caches == 0
                ? "no cache has a region there"
                : "it has " + Plurals.of(regions, "region") + " of " + Plurals.of(caches, "cache");
    }

    private boolean changes(ServerReport report, boolean ends) {
        Servers.KnownServer known = servers.find(report.serverId());
        ServerRecord record = new ServerRecord(
                report.serverId(),
                report.address(),
                report.type(),
                report.spot(),
                known == null ? millis.getAsLong() : known.record.sinceMillis(),
                report.place(),
                report.regionBytes(),
                report.totalRegions(),
                report.noticeMillis(),
                report.leaving());
        if (known != null && known.record.equals(record)) {
            return false;
        }
        boolean left = known != null && known.record.leaving();
        if (report.leaving() && known != null && !left) {
            seen(record, ends, millis.getAsLong());
        }
        journal.add(new StateChange.PutServer(record));
        servers.put(record);
        servers.replaces(record);
        if (report.leaving() && !left) {
            LOG.log(
                    System.Logger.Level.INFO,
                    "memory server " + report.address() + " leaves within " + report.leavesWithinMillis() + " ms: "
                            + holdings(report));
        } else {
            LOG.log(System.Logger.Level.DEBUG, "memory server " + report.address() + " is there");
        }
        return true;
    }

    /**
     * Each life is added once: the record of a server that leaves never stays again.
     *
     * @param ended whether it has ended or was taken back; if not, it might have lived longer
     * @param until the time of day until which it was observed
     */
    private void seen(ServerRecord server, boolean ended, long until) {
        if (server.spot()) {
            double hours = (until - server.sinceMillis()) / SpotLives.MILLIS_AN_HOUR;
            boolean ends = ended && !stopped.test(server.id());
            prices.life(server.type()).add(hours, ends, until / SpotLives.MILLIS_AN_HOUR);
            changed.add(server.type());
        }
    }

    /** Forgets servers that are gone and on which no cache has a region. */
    public void forgetGone(long now) {
        List<Servers.KnownServer> gone = servers.silent(now)
                .filter(server -> server.caches().isEmpty() && servers.isGone(server))
                .toList();
        for (Servers.KnownServer server : gone) {
            ServerRecord record = server.record;
            if (!record.leaving() && server.wasHeard) {
                // It ended without notice, after its last report. A server that never reported to this manager may have
                // lived for any time, so it is not counted. If another server is at its address, only its process has
                // ended, and the machine lives on.
                long until = millis.getAsLong() - (now - server.reportedAt) / NANOS_PER_MILLI;
                seen(record, !servers.isReplaced(server), until);
            }
            journal.add(new StateChange.RemoveServer(record.id()));
            servers.remove(record.id());
        }
    }
}
