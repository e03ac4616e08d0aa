package io.farheap.kv.leased.client;

import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.remote.contract.RemoteRegion;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The area of a process at one server. A thread of its own asks the server for the region, so no session waits for a
 * server that does not answer. Requests get their parts in the order in which they asked, as long as they ask: a short
 * value does not take the room that a long one waits for. Thread-safe.
 */
final class ServerArea {

    private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** A request that has not asked for so long has no turn: its session is not polled. */
    private static final long LATELY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Supplier<RemoteRegion> allocation;
    private final Supplier<String> server;
    private final long usualBytes;
    private final LongSupplier nanoTime;
    /** Parts that requests wait for. */
    private final ArrayDeque<AreaPart> waiting = new ArrayDeque<>();
    /** By the number of a session: the ring of its reports, which later sessions of that number have, too. */
    private final @Nullable AreaPart[] rings = new AreaPart[LeasedCalls.MOST_SESSIONS];

    private AreaChunks chunks;
    private @Nullable RemoteRegion region;
    private boolean asking;
    /** Why there is none. */
    private String refused = "";
    /** When the server has refused it. */
    private long refusedAt;

    /**
     * @param allocation asks the server for a region, and waits for it
     * @param server its name, for messages
     * @param usualBytes of a region
     * @param nanoTime by which turns pass
     */
    ServerArea(Supplier<RemoteRegion> allocation, Supplier<String> server, long usualBytes, LongSupplier nanoTime) {
        this.allocation = allocation;
        this.server = server;
        this.usualBytes = usualBytes;
        this.nanoTime = nanoTime;
        chunks = new AreaChunks(usualBytes);
    }

    /** The region, or null: then it is asked for, unless the server has refused it just now. */
    private @Nullable RemoteRegion region() {
        if (region == null && !asking && (refused.isEmpty() || nanoTime.getAsLong() - refusedAt >= AGAIN_NANOS)) {
            refused = "";
            Thread.ofVirtual().name("farheap-area").start(this::ask);
            asking = true;
        }
        return region;
    }

    private void ask() {
        RemoteRegion given = null;
        String why = "the request has failed";
        try {
            given = allocation.get();
        } catch (RuntimeException e) {
            why = String.valueOf(e.getMessage());
        } finally {
            asked(given, why);
        }
    }

    private synchronized void asked(@Nullable RemoteRegion given, String why) {
        asking = false;
        region = given;
        if (given != null) {
            chunks = new AreaChunks(given.usableBytes());
        } else {
            refused = ": no region of " + server.get() + " for long values on their way: " + why;
            refusedAt = nanoTime.getAsLong();
        }
    }

    /** Whether the server is asked for the region now. */
    synchronized boolean isAsking() {
        return asking;
    }

    /** Why the server has given no region; empty if it has, or is asked. */
    synchronized String refusal() {
        return region == null ? refused : "";
    }

    /** Whether there is room for a value if no other one is there. */
    synchronized boolean mayHold(int bytes) {
        return chunks.mayHold(bytes);
    }

    /** Whether a part is of the region that the area has now. */
    synchronized boolean has(AreaPart part) {
        return part.region != null && part.region == region;
    }

    /** As {@link ClientAreas#take}. */
    synchronized boolean take(int bytes, AreaPart into) {
        RemoteRegion of = region();
        if (of == null) {
            return false;
        }
        long now = nanoTime.getAsLong();
        into.askedAt = now;
        long at = isNext(into, now) ? chunks.take(bytes) : AreaChunks.NONE;
        if (at == AreaChunks.NONE) {
            if (!waiting.contains(into)) {
                waiting.add(into);
            }
            return false;
        }
        waiting.remove(into);
        into.region = of;
        into.at = at;
        into.bytes = bytes;
        return true;
    }

    /** Whether no part before one is waited for. */
    private boolean isNext(AreaPart part, long now) {
        if (waiting.isEmpty()) {
            return true;
        }
        for (AreaPart each : waiting) {
            if (each == part) {
                return true;
            }
            if (now - each.askedAt < LATELY_NANOS) {
                return false;
            }
        }
        return true;
    }

    /** As {@link ClientAreas#give}. */
    synchronized void give(AreaPart part) {
        waiting.remove(part);
        if (part.region != null && part.region == region) {
            chunks.give(part.at, part.bytes);
        }
        part.region = null;
    }

    /** As {@link ClientAreas#drop}. */
    synchronized void drop(AreaPart part) {
        if (part.region != null && part.region == region) {
            region = null;
            chunks = new AreaChunks(usualBytes);
        }
        part.region = null;
    }

    /** The ring of the sessions of a number, or null if there is no room for it, or no region yet. */
    synchronized @Nullable AreaPart ring(int session) {
        RemoteRegion of = region();
        AreaPart known = rings[session];
        if (of == null || known != null && known.region == of) {
            return of == null ? null : known;
        }
        long at = chunks.takeRing();
        if (at == AreaChunks.NONE) {
            return null;
        }
        AreaPart made = new AreaPart();
        made.region = of;
        made.at = at;
        rings[session] = made;
        return made;
    }
}
