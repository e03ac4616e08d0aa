package io.farheap.manager.service.caches;

import io.farheap.manager.CacheManager;
import io.farheap.manager.Reclaim;
import io.farheap.manager.state.CacheRecord;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Which client processes are connected, and which caches are theirs. Guarded by the manager's lock. */
public final class Clients {

    private static final System.Logger LOG = System.getLogger(Clients.class.getName());

    /** That a cache should leave a server, for a reason. */
    private record ToldAlert(long serverId, Reclaim.Reason reason) {}

    /** Of what a client was notified, and the cache's generation then. */
    private record ToldAlerts(long generation, Set<ToldAlert> alerts) {}

    /** The stream of messages to one client process. */
    public static final class ClientLine {
        final CacheManager.Listener listener;
        /** By cache: of what the client was notified last. */
        private final Map<Long, ToldAlerts> told = new HashMap<>();

        /** The caches that it named last; some may belong to another process's line by now. */
        private Set<Long> caches = Set.of();

        public ClientLine(CacheManager.Listener listener) {
            this.listener = listener;
        }

        /** Notifies the client; does nothing if the line is broken. */
        public void tell(Consumer<CacheManager.Listener> alert) {
            try {
                alert.accept(listener);
            } catch (RuntimeException e) {
                // The line is broken: the client is notified when it has connected again.
                LOG.log(System.Logger.Level.DEBUG, "a client cannot be notified; it will be when it connects again", e);
            }
        }

        /**
         * Whether the client was not yet notified that a cache's current generation should leave a server for this
         * reason; marks it as notified.
         */
        public boolean hearsFirst(CacheRecord cache, long serverId, Reclaim.Reason reason) {
            ToldAlerts last = told.get(cache.id());
            if (last == null || last.generation() != cache.generation()) {
                last = new ToldAlerts(cache.generation(), new HashSet<>());
                told.put(cache.id(), last);
            }
            return last.alerts().add(new ToldAlert(serverId, reason));
        }
    }

    private final Map<Long, ClientLine> lines = new HashMap<>();
    /**
     * When a client last claimed each cache, in the order of those times; all caches count as claimed when a manager
     * starts, and after it stood still.
     */
    private final LinkedHashMap<Long, Long> claimed = new LinkedHashMap<>();
    /** Caches on disk that have no client, since their removal could not be written. */
    private final Set<Long> unclaimed = new HashSet<>();

    private final long silentNanos;
    /** Up to when this manager has received what clients sent. */
    private long listened;

    /**
     * @param silentNanos a client that was silent for longer counts as gone
     * @param now from when on the manager receives what clients send
     */
    public Clients(long silentNanos, long now) {
        this.silentNanos = silentNanos;
        this.listened = now;
    }

    /** This manager has received what clients sent; if it stood still before, their claims were renewed. */
    public void listened(long now) {
        listened = now;
    }

    /**
     * A client has claimed a cache, or counts as having done so.
     *
     * @param now no earlier than in earlier calls
     */
    public void claim(long cacheId, long now) {
        unclaimed.remove(cacheId);
        claimed.putLast(cacheId, now);
    }

    /**
     * The caches were reloaded from disk: a cache that its client gave back, but whose removal could not be written,
     * has no client.
     *
     * @param cacheIds all caches
     */
    public void loaded(Stream<Long> cacheIds) {
        unclaimed.clear();
        cacheIds.filter(cache -> !claimed.containsKey(cache)).forEach(unclaimed::add);
    }

    /**
     * A client process has named all of its caches: its line is theirs from now on, and known ones among them are
     * claimed.
     */
    public void renew(ClientLine line, Set<Long> cacheIds, long now) {
        line.caches.stream().filter(cache -> !cacheIds.contains(cache)).forEach(cache -> lines.remove(cache, line));
        line.caches = Set.copyOf(cacheIds);
        for (long cacheId : cacheIds) {
            lines.put(cacheId, line);
            if (claimed.containsKey(cacheId)) {
                claim(cacheId, now);
            }
        }
    }

    /** A line has ended: its caches have no line, but stay claimed. */
    public void close(ClientLine line) {
        line.caches.forEach(cache -> lines.remove(cache, line));
    }

    /** Returns the line of the process that has a cache, or null. */
    public @Nullable ClientLine line(long cacheId) {
        return lines.get(cacheId);
    }

    /** Whether no client has claimed a cache for long; time in which this manager may not have listened is no proof. */
    boolean isAbandoned(long cacheId) {
        Long last = claimed.get(cacheId);
        return last == null || listened - last > silentNanos;
    }

    /**
     * Returns since when a cache is {@linkplain #isAbandoned abandoned}, or will be if its client stays silent; null if
     * it has no client.
     */
    public @Nullable Long abandonedSince(long cacheId) {
        Long last = claimed.get(cacheId);
        return last == null ? null : last + silentNanos;
    }

    /** Returns the caches that no client has claimed for long. It looks at no others. */
    public List<Long> abandoned(long now) {
        List<Long> abandoned = new ArrayList<>(unclaimed);
        for (Map.Entry<Long, Long> claim : claimed.entrySet()) {
            if (now - claim.getValue() <= silentNanos) {
                break;
            }
            abandoned.add(claim.getKey());
        }
        return abandoned;
    }

    /** A cache was removed. */
    public void forget(long cacheId) {
        claimed.remove(cacheId);
        unclaimed.remove(cacheId);
        ClientLine line = lines.remove(cacheId);
        if (line != null) {
            line.told.remove(cacheId);
        }
    }
}
