package io.farheap.manager.service.journal;

import io.farheap.manager.ServerReport;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ObjLongConsumer;

/**
 * Reports of servers to which there is nothing to answer and nothing to write: of thousands of servers nearly all say
 * each second what they said before. They wait here for whoever has the manager's lock next, instead of waiting for the
 * lock themselves: it would go from one of them to the next, and all others would stand in line behind.
 *
 * <p>Thread-safe. Which servers are expected, and what is read, goes with the manager's lock.
 */
public final class Inbox {

    /** One that is not read yet. */
    private record UnreadReport(ServerReport report, long at) {}

    /** What each of these servers said when it was last answered, and the answer was that there is nothing to do. */
    private final Map<Long, ServerReport> expected = new ConcurrentHashMap<>();

    private final Queue<UnreadReport> unread = new ConcurrentLinkedQueue<>();
    /** No more than there are in it. */
    private final AtomicInteger count = new AtomicInteger();

    /**
     * Keeps a report until it is read, where its server says what is expected of it. Without the lock.
     *
     * @param now when it was heard
     * @return false: it has to be answered
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

    /** Whether what is free, and what caches hold, is all that may differ. */
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

    /** All that wait now, in the order in which they came; not those that come meanwhile, so that it ends. */
    void read(ObjLongConsumer<ServerReport> reader) {
        for (int left = count.get(); left > 0; left--) {
            UnreadReport heard = unread.remove();
            count.decrementAndGet();
            reader.accept(heard.report(), heard.at());
        }
    }

    /** A server that stays was answered that there is nothing to do: it need not wait for that again. */
    public void expect(ServerReport report) {
        expected.put(report.serverId(), report);
    }

    /** A server is other than it was, or is to hear something: its next report is answered. */
    public void forget(long serverId) {
        expected.remove(serverId);
    }

    /** As {@link #forget}, of all. */
    public void forgetAll() {
        expected.clear();
    }
}
