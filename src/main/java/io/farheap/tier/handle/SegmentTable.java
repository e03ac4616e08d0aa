package io.farheap.tier.handle;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** A device's object for each segment, by the segment's number. Reads take no lock and do not allocate. Any thread. */
public final class SegmentTable<T> {

    /** The objects of segments from {@code first} on; null for a segment without one. */
    private record Span(long first, @Nullable Object[] items) {}

    private volatile Span span = new Span(0, new Object[0]);

    @SuppressWarnings("unchecked")
    public @Nullable T get(long segment) {
        Span now = span;
        long index = segment - now.first;
        return index < 0 || index >= now.items.length ? null : (T) now.items[(int) index];
    }

    /** @param make called if the segment has no object */
    public synchronized T getOrAdd(long segment, LongFunction<T> make) {
        T present = get(segment);
        if (present != null) {
            return present;
        }
        T made = make.apply(segment);
        Span now = span;
        long first = now.items.length == 0 ? segment : Math.min(now.first, segment);
        long last = now.items.length == 0 ? segment : Math.max(now.first + now.items.length - 1, segment);
        @Nullable Object[] items = new Object[Math.toIntExact(last - first + 1)];
        System.arraycopy(now.items, 0, items, (int) Math.max(0, now.first - first), now.items.length);
        items[(int) (segment - first)] = made;
        span = new Span(first, items);
        return made;
    }

    /** @return the objects that were removed, the lowest segment first */
    public synchronized List<T> removeBelow(long segment) {
        Span now = span;
        int count = Math.clamp(segment - now.first, 0, now.items.length);
        List<T> removed = list(now, count);
        if (count > 0) {
            span = new Span(now.first + count, Arrays.copyOfRange(now.items, count, now.items.length));
        }
        return removed;
    }

    /** All objects, the lowest segment first. */
    public List<T> all() {
        Span now = span;
        return list(now, now.items.length);
    }

    @SuppressWarnings("unchecked")
    private List<T> list(Span from, int count) {
        List<T> list = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Object item = from.items[i];
            if (item != null) {
                list.add((T) item);
            }
        }
        return list;
    }
}
