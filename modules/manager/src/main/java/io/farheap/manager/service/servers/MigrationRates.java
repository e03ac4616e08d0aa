package io.farheap.manager.service.servers;

import io.farheap.manager.ServerReport;
import io.farheap.manager.allocation.MachineType;
import io.farheap.manager.allocation.Menu;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * How fast caches leave servers, by type of server: begins with the figure of Redy's paper, 1.09 s a GB (section 7.4),
 * and follows what is observed: the bytes of all caches that left one server, over the time in which any of them moved.
 * The content of a spot server must be able to leave within its notice. Guarded by the manager's lock.
 */
public final class MigrationRates {

    private static final double GIVEN = 1e9 / 1.09;
    /** The weight of a new observation; the rest is that of earlier ones. */
    private static final double WEIGHT = 0.2;
    /** What passes of a notice before regions move, in s at most: reports, the plan, its alert and the connection. */
    public static final double REACTION_SECONDS = 2;
    /** Of a short notice less is left aside, as otherwise nothing of it would be left. */
    private static final double REACTION_PART = 0.1;
    /** An observation counts as at most this many times the earlier rate, and as no less than that part of it. */
    private static final double MOST_TIMES = 2;
    /** Fewer bytes tell how long it takes to begin, and not how fast they move. */
    static final long LEAST_BYTES = 64L << 20;
    /** Caches that move off one server within this time of each other are one observation. */
    private static final long TOGETHER_NANOS = 5_000_000_000L;
    /** How long after the first report the moves off one server are counted, also if some have not ended. */
    private static final long LONGEST_NANOS = 120_000_000_000L;
    /** How long a low rate that is not observed stays. */
    private static final long DRIFT_NANOS = 3_600_000_000_000L;
    /** No network is faster, in bytes a second; a client that says so errs. */
    private static final double FASTEST = 50e9;

    /** A time in which regions moved. */
    private record MovingTime(long from, long to) {}

    /** The moves off one server, until all are reported, and none has been for a while. */
    private static final class Departure {
        private final String type;
        private final long begunAt;
        private final List<MovingTime> times = new ArrayList<>();
        private long bytes;
        private long reportedAt;

        Departure(String type, long begunAt) {
            this.type = type;
            this.begunAt = begunAt;
        }

        /** Returns for how long any regions moved. */
        double seconds() {
            times.sort(Comparator.comparingLong(MovingTime::from));
            long sum = 0;
            long until = Long.MIN_VALUE;
            for (MovingTime one : times) {
                sum += Math.max(0, one.to - Math.max(one.from, until));
                until = Math.max(until, one.to);
            }
            return sum / 1e9;
        }
    }

    private final Map<String, Double> bytesPerSecond = new HashMap<>();
    /** By type: observations since this manager leads. */
    private final Map<String, Long> samples = new HashMap<>();
    /** By type: when its rate was observed last, or has risen since no move was observed. */
    private final Map<String, Long> changedAt = new HashMap<>();
    /** By server. */
    private final Map<Long, Departure> departures = new HashMap<>();
    /** Types of which the rate has changed since it was written. */
    private final Set<String> changed = new TreeSet<>();

    /**
     * A client has reported that it has moved regions.
     *
     * @param type of the server that they have left
     * @param from when the first of them began to move, by the clock of {@code now}
     * @param to when the last of them has moved
     */
    public void moved(long serverId, String type, long bytes, long from, long to, long now) {
        Departure departure = departures.computeIfAbsent(serverId, _ -> new Departure(type, now));
        departure.times.add(new MovingTime(from, to));
        departure.bytes += bytes;
        departure.reportedAt = now;
    }

    /**
     * Counts the moves off servers from which nothing moves any more. Called in each tick.
     *
     * @param left the servers that caches are leaving now: these share the server's line with those that have left
     *     already. Called only if there are moves to count
     * @return whether a rate has changed
     */
    public boolean settle(long now, Supplier<Set<Long>> left) {
        boolean any = drift(now);
        if (departures.isEmpty()) {
            return any;
        }
        Set<Long> busy = left.get();
        Iterator<Map.Entry<Long, Departure>> each = departures.entrySet().iterator();
        while (each.hasNext()) {
            Map.Entry<Long, Departure> one = each.next();
            Departure departure = one.getValue();
            if (now - departure.reportedAt > TOGETHER_NANOS && !busy.contains(one.getKey())
                    || now - departure.begunAt > LONGEST_NANOS) {
                each.remove();
                if (departure.bytes >= LEAST_BYTES) {
                    seen(departure.type, departure.bytes, departure.seconds());
                    changedAt.put(departure.type, now);
                    any = true;
                }
            }
        }
        return any;
    }

    /**
     * A rate that was not observed for long rises towards the given one: servers of a type that is too slow to offer
     * anything have no caches, so that nothing moves off them any more.
     */
    private boolean drift(long now) {
        boolean any = false;
        for (Map.Entry<String, Double> rate : bytesPerSecond.entrySet()) {
            long since = changedAt.computeIfAbsent(rate.getKey(), _ -> now);
            if (rate.getValue() < GIVEN && now - since > DRIFT_NANOS) {
                rate.setValue(rate.getValue() + WEIGHT * (GIVEN - rate.getValue()));
                changedAt.put(rate.getKey(), now);
                changed.add(rate.getKey());
                any = true;
            }
        }
        return any;
    }

    /** Adds an observation: these bytes have left a server of this type in this many seconds. */
    void seen(String type, long bytes, double seconds) {
        double before = bytesPerSecond(type);
        double most = Math.max(before, Math.min(before * MOST_TIMES, FASTEST));
        double rate = Math.clamp(bytes / Math.max(seconds, 1e-3), before / MOST_TIMES, most);
        bytesPerSecond.put(type, before + WEIGHT * (rate - before));
        samples.merge(type, 1L, Long::sum);
        changed.add(type);
    }

    /** Replaces all rates by those that earlier managers have observed, in bytes a second by type. */
    void load(Map<String, Double> observed) {
        bytesPerSecond.clear();
        bytesPerSecond.putAll(observed);
        samples.clear();
        changedAt.clear();
        departures.clear();
        changed.clear();
    }

    /** Returns the types of which the rate has changed since the last call. */
    Set<String> takeChanged() {
        Set<String> types = Set.copyOf(changed);
        changed.clear();
        return types;
    }

    /** Returns the observed rate of a type in bytes a second; 0 if none was observed. */
    double observed(String type) {
        return bytesPerSecond.getOrDefault(type, 0.0);
    }

    /** Returns the types of which a rate was observed, by this manager or by earlier ones. */
    Set<String> types() {
        return Set.copyOf(bytesPerSecond.keySet());
    }

    /** Returns how many observations of a type this manager has counted. */
    long samples(String type) {
        return samples.getOrDefault(type, 0L);
    }

    /** Returns in how many ns so many bytes leave a server of a type if nothing else leaves it. */
    public long nanos(String type, double bytes) {
        return (long) Math.min(Long.MAX_VALUE / 4.0, bytes / bytesPerSecond(type) * 1e9);
    }

    double bytesPerSecond(String type) {
        return bytesPerSecond.getOrDefault(type, GIVEN);
    }

    /**
     * Returns how many regions can leave a server within its notice, less the time until another one serves, and less
     * {@value #REACTION_SECONDS} s, or a tenth of a short notice.
     */
    long leavable(ServerReport server, Menu menu) {
        return leavable(server.type(), server.noticeMillis(), server.regionBytes(), menu);
    }

    /** The same for a server that has not started yet. */
    public long leavable(String name, long noticeMillis, long regionBytes, Menu menu) {
        MachineType type = menu.find(name);
        double notice = noticeMillis / 1e3;
        double reaction = Math.min(REACTION_SECONDS, notice * REACTION_PART);
        double seconds = notice - reaction - (type == null ? 0 : type.startSeconds());
        return (long) (Math.max(0, seconds) * bytesPerSecond(name) / regionBytes);
    }
}
