package io.farheap.manager.service.caches;

import io.farheap.manager.CacheManager;
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

/** Which client processes are there, and which caches are theirs. Its user has a lock around it. */
public final class Clients {

    private static final System.Logger LOG = System.getLogger(Clients.class.getName());

    /** A process's line. */
    public static final class ClientLine {
        final CacheManager.Listener listener;
        /** The generation of each cache that it has been told of. */
        private final Map<Long, Long> told = new HashMap<>();

        /** That it has named last; some may be another line's by now. */
        private Set<Long> caches = Set.of();

        public ClientLine(CacheManager.Listener listener) {
            this.listener = listener;
        }

        public void tell(Consumer<CacheManager.Listener> alert) {
            try {
                alert.accept(listener);
            } catch (RuntimeException e) {
                // Its line is broken: it hears of it when it has another.
                LOG.log(System.Logger.Level.DEBUG, "a client does not hear what concerns it", e);
            }
        }

        /** Whether it has not been told of a cache as it is now; it counts as told then. */
        public boolean hearsFirst(CacheRecord cache) {
            Long before = told.put(cache.id(), cache.generation());
            return before == null || before != cache.generation();
        }
    }

    private final Map<Long, ClientLine> lines = new HashMap<>();
    /** When somebody last said that a cache is its own; what was said first comes first. */
    private final LinkedHashMap<Long, Long> claimed = new LinkedHashMap<>();
    /** Caches that are nobody's. */
    private final Set<Long> unclaimed = new HashSet<>();

    private final long silentNanos;

    public Clients(long silentNanos) {
        this.silentNanos = silentNanos;
    }

    /** @param now no earlier than what was said before */
    public void claim(long cacheId, long now) {
        unclaimed.remove(cacheId);
        claimed.putLast(cacheId, now);
    }

    /**
     * Caches are as they are on disk: one whose client has given it back, which could not be written, is nobody's.
     *
     * @param cacheIds all of them
     */
    public void loaded(Stream<Long> cacheIds) {
        unclaimed.clear();
        cacheIds.filter(cache -> !claimed.containsKey(cache)).forEach(unclaimed::add);
    }

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

    public void close(ClientLine line) {
        line.caches.forEach(cache -> lines.remove(cache, line));
    }

    /** Of the process that has a cache, or null. */
    public @Nullable ClientLine line(long cacheId) {
        return lines.get(cacheId);
    }

    boolean abandoned(long cacheId, long now) {
        Long last = claimed.get(cacheId);
        return last == null || now - last > silentNanos;
    }

    /** Since when a cache is {@linkplain #abandoned abandoned}; null where it is nobody's. */
    public @Nullable Long abandonedSince(long cacheId) {
        Long last = claimed.get(cacheId);
        return last == null ? null : last + silentNanos;
    }

    /** Caches of which nobody has said for long that they are its own. It looks at those alone. */
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

    public void forget(long cacheId) {
        claimed.remove(cacheId);
        unclaimed.remove(cacheId);
        ClientLine line = lines.remove(cacheId);
        if (line != null) {
            line.told.remove(cacheId);
        }
    }
}
