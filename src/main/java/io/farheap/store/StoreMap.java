package io.farheap.store;

import io.farheap.kv.Codec;
import io.farheap.store.contract.RecordVisitor;
import io.farheap.store.contract.StoreException;
import io.farheap.store.contract.StoreStatus;
import io.farheap.store.format.RecordLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentMap;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The map of {@link FarStore#asMap}, where its guarantees are described. */
final class StoreMap<K, V> implements ConcurrentMap<K, V> {

    private static final int FIRST_ROOM = 1024;

    private final SessionPool sessions;
    private final Consumer<RecordVisitor> scan;
    private final Codec<K> keys;
    private final Codec<V> values;

    StoreMap(SessionPool sessions, Consumer<RecordVisitor> scan, Codec<K> keys, Codec<V> values) {
        this.sessions = sessions;
        this.scan = scan;
        this.keys = keys;
        this.values = values;
    }

    @SuppressWarnings("unchecked") // Map's signature: a key of another type is for the codec to refuse.
    private byte[] key(Object key) {
        return keys.encode((K) Objects.requireNonNull(key));
    }

    @SuppressWarnings("unchecked")
    private byte[] value(Object value) {
        return values.encode((V) Objects.requireNonNull(value));
    }

    private @Nullable V decode(byte @Nullable [] bytes) {
        return bytes == null ? null : values.decode(bytes);
    }

    private byte @Nullable [] read(byte[] key) {
        return sessions.with(session -> read(new BlockingStoreSession(session), MemorySegment.ofArray(key)));
    }

    private static byte @Nullable [] read(BlockingStoreSession session, MemorySegment key) {
        int keyBytes = (int) key.byteSize();
        for (int room = FIRST_ROOM; ; room = Math.min(4 * room, RecordLayout.MAX_VALUE_BYTES)) {
            MemorySegment into = MemorySegment.ofArray(new byte[room]);
            int outcome = session.tryRead(key, 0, keyBytes, into, 0, room);
            switch (outcome) {
                case StoreStatus.DONE -> {
                    return into.asSlice(0, session.bytes()).toArray(ValueLayout.JAVA_BYTE);
                }
                case StoreStatus.NOT_FOUND -> {
                    return null;
                }
                case StoreStatus.TOO_LONG -> {
                    // Try again with more room.
                }
                default ->
                    throw new StoreException("a value could not be read: " + StoreStatus.describe(outcome), outcome);
            }
        }
    }

    private MapUpdate update(
            byte[] key, MapUpdate.UpdateCondition when, byte @Nullable [] expected, byte @Nullable [] next) {
        MapUpdate update = new MapUpdate(when, expected, next);
        sessions.with(session ->
                new BlockingStoreSession(session).update(MemorySegment.ofArray(key), 0, key.length, update, 0));
        return update;
    }

    /** Replaces a value by the result of a function. If the value was changed meanwhile, the function runs again. */
    private @Nullable V change(byte[] key, byte @Nullable [] seen, UnaryOperator<@Nullable V> function) {
        byte[] old = seen;
        while (true) {
            V next = function.apply(decode(old));
            if (next == null && old == null) {
                return null;
            }
            MapUpdate.UpdateCondition when =
                    old == null ? MapUpdate.UpdateCondition.ABSENT : MapUpdate.UpdateCondition.EQUAL;
            MapUpdate made = update(key, when, old, next == null ? null : value(next));
            if (made.changed()) {
                return next;
            }
            old = made.found();
        }
    }

    @Override
    public @Nullable V get(Object key) {
        return decode(read(key(key)));
    }

    @Override
    public boolean containsKey(Object key) {
        return read(key(key)) != null;
    }

    @Override
    public @Nullable V put(K key, V value) {
        return decode(update(key(key), MapUpdate.UpdateCondition.ALWAYS, null, value(value))
                .found());
    }

    @Override
    public void putAll(Map<? extends K, ? extends V> from) {
        from.forEach((key, value) -> {
            byte[] bytes = key(key);
            MemorySegment stored = MemorySegment.ofArray(value(value));
            sessions.with(session -> {
                new BlockingStoreSession(session)
                        .upsert(MemorySegment.ofArray(bytes), 0, bytes.length, stored, 0, (int) stored.byteSize());
                return session;
            });
        });
    }

    @Override
    public @Nullable V putIfAbsent(K key, V value) {
        return decode(update(key(key), MapUpdate.UpdateCondition.ABSENT, null, value(value))
                .found());
    }

    @Override
    public @Nullable V remove(Object key) {
        return decode(
                update(key(key), MapUpdate.UpdateCondition.PRESENT, null, null).found());
    }

    @Override
    public boolean remove(Object key, @Nullable Object value) {
        return value != null
                && update(key(key), MapUpdate.UpdateCondition.EQUAL, value(value), null)
                        .changed();
    }

    @Override
    public @Nullable V replace(K key, V value) {
        return decode(update(key(key), MapUpdate.UpdateCondition.PRESENT, null, value(value))
                .found());
    }

    @Override
    public boolean replace(K key, V oldValue, V newValue) {
        return update(key(key), MapUpdate.UpdateCondition.EQUAL, value(oldValue), value(newValue))
                .changed();
    }

    @Override
    public @Nullable V compute(K key, BiFunction<? super K, ? super @Nullable V, ? extends @Nullable V> function) {
        byte[] bytes = key(key);
        return change(bytes, read(bytes), old -> function.apply(key, old));
    }

    @Override
    public V computeIfAbsent(K key, Function<? super K, ? extends V> function) {
        byte[] bytes = key(key);
        byte[] there = read(bytes);
        if (there != null) {
            return values.decode(there);
        }
        V made = function.apply(key);
        if (made == null) {
            return made;
        }
        V other = decode(update(bytes, MapUpdate.UpdateCondition.ABSENT, null, value(made))
                .found());
        return other == null ? made : other;
    }

    @Override
    public @Nullable V computeIfPresent(K key, BiFunction<? super K, ? super V, ? extends @Nullable V> function) {
        byte[] bytes = key(key);
        return change(bytes, read(bytes), old -> old == null ? null : function.apply(key, old));
    }

    @Override
    public @Nullable V merge(K key, V value, BiFunction<? super V, ? super V, ? extends @Nullable V> function) {
        Objects.requireNonNull(value);
        byte[] bytes = key(key);
        return change(bytes, read(bytes), old -> old == null ? value : function.apply(old, value));
    }

    @Override
    public void forEach(BiConsumer<? super K, ? super V> action) {
        scan.accept((memory, key, keyBytes, value, valueBytes) -> {
            action.accept(keys.decode(bytes(memory, key, keyBytes)), values.decode(bytes(memory, value, valueBytes)));
            return true;
        });
    }

    private static byte[] bytes(MemorySegment memory, long offset, int length) {
        return memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    @Override
    public void replaceAll(BiFunction<? super K, ? super V, ? extends V> function) {
        forEach((key, value) -> computeIfPresent(key, function));
    }

    @Override
    public int size() {
        long[] count = {0};
        scan.accept((memory, key, keyBytes, value, valueBytes) -> ++count[0] > 0);
        return (int) Math.min(count[0], Integer.MAX_VALUE);
    }

    @Override
    public boolean isEmpty() {
        boolean[] found = {false};
        scan.accept((memory, key, keyBytes, value, valueBytes) -> {
            found[0] = true;
            return false;
        });
        return !found[0];
    }

    @Override
    public boolean containsValue(Object value) {
        MemorySegment wanted = MemorySegment.ofArray(value(value));
        boolean[] found = {false};
        scan.accept((memory, key, keyBytes, at, valueBytes) -> {
            found[0] = MemorySegment.mismatch(memory, at, at + valueBytes, wanted, 0, wanted.byteSize()) < 0;
            return !found[0];
        });
        return found[0];
    }

    @Override
    public void clear() {
        forEach((key, value) -> remove(key));
    }

    @Override
    public Set<K> keySet() {
        throw noIterators();
    }

    @Override
    public Collection<V> values() {
        throw noIterators();
    }

    @Override
    public Set<Entry<K, V>> entrySet() {
        throw noIterators();
    }

    private static UnsupportedOperationException noIterators() {
        return new UnsupportedOperationException(
                "a store is read in the order of its log, and has no iterators: use forEach, or FarStore.scan");
    }

    @Override
    public String toString() {
        return "the map of a FarStore";
    }
}
