package io.farheap.manager.service.journal;

import io.farheap.manager.ServerReport;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ObjLongConsumer;

/**
 * Holds reports of servers that need no answer and no write: nearly all of thousands of servers report each second what
 * they reported before. The next thread that takes the manager's lock reads them. If each of them took the lock
 * instead, the lock would pass from one report to the next, and all other calls would queue behind them. Of a server's
 * reports only the latest is kept: while the state cannot be read, no thread may read reports for long.
 *
 * <p>Thread-safe. The set of expected reports is changed, and reports are read, with the manager's lock.
 */
public final class Inbox {

    /** A report that was not read yet. */
    private record UnreadReport(ServerReport report, long at) {}

    /** By server: its report that was answered last, if the answer was that there is nothing to do. */
    private final Map<Long, ServerReport> expected = new ConcurrentHashMap<>();

    /** By server: its latest report. */
    private final Map<Long, UnreadReport> unread = new ConcurrentHashMap<>();

    /**
     * Keeps a report until it is read, if it is the one that is expected of its server. Called without the lock.
     *
     * @param now when it was received
     * @return false if it has to be answered
     */
    public boolean keep(ServerReport report, long now) {
        ServerReport before = expected.get(report.serverId());
        if (before == null || !isAlike(report, before)) {
            return false;
        }
        unread.put(report.serverId(), new UnreadReport(report, now));
        return true;
    }

    /** Keeps a report until it is read, though it has to be answered: the next one will be. Called without the lock. */
    public void hold(ServerReport report, long now) {
        unread.put(report.serverId(), new UnreadReport(report, now));
    }

    /**
     * Whether two reports differ at most in what is free and in what caches hold, and the first wants no regions back:
     * one that does is answered with how many are promised.
     */
    private static boolean isAlike(ServerReport one, ServerReport other) {
        return one.regionBytes() == other.regionBytes()
                && one.totalRegions() == other.totalRegions()
                && one.noticeMillis() == other.noticeMillis()
                && one.leaving() == other.leaving()
                && one.spot() == other.spot()
                && one.ended().isEmpty()
                && one.wantedRegions() == 0
                && one.address().equals(other.address())
                && one.type().equals(other.type())
                && one.place().equals(other.place())
                && one.domain().equals(other.domain());
    }

    /**
     * Reads the latest report of each server that waits now, in the order in which they came, those of servers that
     * leave after the others: what leaves moves to servers that are heard. It ends, since it leaves those that come
     * meanwhile.
     */
    void read(ObjLongConsumer<ServerReport> reader) {
        if (unread.isEmpty()) {
            return;
        }
        List<UnreadReport> waiting = new ArrayList<>(unread.values());
        // Compared by difference, as times of nanoTime are.
        waiting.sort(Comparator.comparing((UnreadReport one) -> one.report().leaving())
                .thenComparing((one, other) -> Long.signum(one.at() - other.at())));
        for (UnreadReport heard : waiting) {
            if (unread.remove(heard.report().serverId(), heard)) {
                reader.accept(heard.report(), heard.at());
            }
        }
    }

    /**
     * A server that stays received the answer that there is nothing to do: further reports like this one need no
     * answer.
     */
    public void expect(ServerReport report) {
        expected.put(report.serverId(), report);
    }

    /** A server has changed, or must be notified: its next report is answered. */
    public void forget(long serverId) {
        expected.remove(serverId);
    }

    /** The same for all servers. */
    public void forgetAll() {
        expected.clear();
    }
}
