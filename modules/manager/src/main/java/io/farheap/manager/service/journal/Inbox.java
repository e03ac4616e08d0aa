package io.farheap.manager.service.journal;

import io.farheap.manager.ServerReport;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ObjLongConsumer;

/**
 * Holds reports of servers that need no answer and no write: nearly all of thousands of servers report each second what
 * they reported before. The next thread that takes the manager's lock reads them. If each of them took the lock
 * instead, the lock would pass from one report to the next, and all other calls would queue behind them.
 *
 * <p>Thread-safe. The set of expected reports is changed, and reports are read, with the manager's lock.
 */
public final class Inbox {

    /** A report that was not read yet. */
    private record UnreadReport(ServerReport report, long at) {}

    /** By server: its report that was answered last, if the answer was that there is nothing to do. */
    private final Map<Long, ServerReport> expected = new ConcurrentHashMap<>();

    private final Queue<UnreadReport> unread = new ConcurrentLinkedQueue<>();
    /** Raised after each insertion: the thread with the lock finds at least this many reports in the queue. */
    private final AtomicInteger count = new AtomicInteger();

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
        unread.add(new UnreadReport(report, now));
        count.incrementAndGet();
        return true;
    }

    /** Whether two reports differ at most in what is free and in what caches hold. */
    private static boolean isAlike(ServerReport one, ServerReport other) {
        return one.regionBytes() == other.regionBytes()
                && one.totalRegions() == other.totalRegions()
                && one.noticeMillis() == other.noticeMillis()
                && one.leaving() == other.leaving()
                && one.spot() == other.spot()
                && one.ended().isEmpty()
                && one.address().equals(other.address())
                && one.type().equals(other.type())
                && one.place().equals(other.place())
                && one.domain().equals(other.domain());
    }

    /**
     * Reads all reports that wait now, in the order in which they came; it ends, since it leaves those that come
     * meanwhile.
     */
    void read(ObjLongConsumer<ServerReport> reader) {
        for (int left = count.get(); left > 0; left--) {
            UnreadReport heard = unread.remove();
            count.decrementAndGet();
            reader.accept(heard.report(), heard.at());
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
