package io.farheap.kv;

import io.farheap.kv.contract.MapException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A map with typed keys and values. Any thread may call; methods wait for their result. A thread that is interrupted
 * while it waits receives a {@link MapException} and stays interrupted; its request may take effect or not.
 *
 * <p>Methods throw {@link MapException} if a server is lost or there is no room, {@link IllegalArgumentException} if a
 * codec makes bytes that a map cannot store, and {@link IllegalStateException} after this object or its map has been
 * closed.
 */
public final class TypedMap<K, V> implements AutoCloseable {

    private static final Duration FOR_EVER = Duration.ZERO;

    /** A value that a thread of this process is loading. */
    private record Load<V>(Thread loader, CompletableFuture<V> value) {}

    private final FutureMapSession futures;
    private final Codec<K> keys;
    private final Codec<V> values;
    private final ConcurrentMap<ByteBuffer, Load<V>> loads = new ConcurrentHashMap<>();

    /** @param futures closed with this object */
    TypedMap(FutureMapSession futures, Codec<K> keys, Codec<V> values) {
        this.futures = futures;
        this.keys = keys;
        this.values = values;
    }

    /** The value of a key, or null if the map does not have it. */
    public @Nullable V get(K key) {
        return find(encode(keys, key));
    }

    private @Nullable V find(byte[] key) {
        byte[] found = await(futures.get(key));
        return found == null ? null : decode(found);
    }

    /** As {@link #get(Object, Function, Duration)}; the value stays until it is evicted. */
    public V get(K key, Function<? super K, ? extends V> loader) {
        return get(key, loader, FOR_EVER);
    }

    /**
     * The value of a key; if the map does not have it, a loader's value, which is then stored. Of this view one loader
     * runs for a key at a time, on the thread that asked first, and all threads that ask this view for the key
     * meanwhile receive its value. If another client has stored a value since, that value is kept and returned instead.
     * If there is no room for the loader's value, or a server is lost, the value is returned nevertheless.
     *
     * @param loader must not ask for the same key. If it throws, all threads that wait for it receive the same
     *     exception, and nothing is stored
     * @param life the time to live, rounded up to ms; 0: until it is evicted
     * @throws IllegalArgumentException if the loader returns null, or a value or a life that a map cannot store
     * @throws IllegalStateException if the loader asks for the same key
     */
    public V get(K key, Function<? super K, ? extends V> loader, Duration life) {
        byte[] bytes = encode(keys, key);
        V found = find(bytes);
        if (found != null) {
            return found;
        }
        ByteBuffer id = ByteBuffer.wrap(bytes.clone());
        Load<V> mine = new Load<>(Thread.currentThread(), new CompletableFuture<>());
        Load<V> other = loads.putIfAbsent(id, mine);
        if (other == null) {
            return load(key, bytes, loader, life, id, mine);
        }
        if (other.loader == Thread.currentThread()) {
            throw new IllegalStateException("a loader asks for the key that it is to load; it would wait for itself");
        }
        return await(other.value);
    }

    private V load(
            K key, byte[] bytes, Function<? super K, ? extends V> loader, Duration life, ByteBuffer id, Load<V> mine) {
        try {
            // Another load may have ended since this thread looked.
            V value = find(bytes);
            if (value == null) {
                V loaded = loader.apply(key);
                if (loaded == null) {
                    throw new IllegalArgumentException("a loader without a value; it returns one or throws");
                }
                value = keep(bytes, loaded, life);
            }
            mine.value.complete(value);
            return value;
        } catch (Throwable e) {
            mine.value.completeExceptionally(e);
            throw e;
        } finally {
            loads.remove(id, mine);
        }
    }

    private V keep(byte[] key, V loaded, Duration life) {
        byte[] value = encode(values, loaded);
        try {
            if (!await(futures.add(key, value, millis(life)))) {
                V newer = find(key);
                return newer == null ? loaded : newer;
            }
        } catch (MapException e) {
            // That is no worse than if the value had been evicted at once.
        }
        return loaded;
    }

    /** Stores a value, which stays until it is evicted. */
    public void set(K key, V value) {
        set(key, value, FOR_EVER);
    }

    /**
     * Stores a value.
     *
     * @param life the time to live, rounded up to ms; 0: until it is evicted
     */
    public void set(K key, V value, Duration life) {
        await(futures.set(encode(keys, key), encode(values, value), millis(life)));
    }

    /** Stores a value if its key is absent; returns whether it was stored. */
    public boolean add(K key, V value, Duration life) {
        return await(futures.add(encode(keys, key), encode(values, value), millis(life)));
    }

    /** Stores a value if its key is present; returns whether it was stored. */
    public boolean replace(K key, V value, Duration life) {
        return await(futures.replace(encode(keys, key), encode(values, value), millis(life)));
    }

    /**
     * Adds to a number of 8 bytes, as {@link Codec#LONG} encodes it; returns the sum, or empty if the map does not have
     * it.
     */
    public OptionalLong increment(K key, long delta) {
        return await(futures.increment(encode(keys, key), delta));
    }

    /** Gives a value another time to live; returns whether the map has the key. */
    public boolean touch(K key, Duration life) {
        return await(futures.touch(encode(keys, key), millis(life)));
    }

    /** Deletes a key; returns whether the map had it. */
    public boolean delete(K key) {
        return await(futures.delete(encode(keys, key)));
    }

    /** Finishes the requests under way, and closes this view. Idempotent. */
    @Override
    public void close() {
        futures.close();
    }

    private static long millis(Duration life) {
        if (life.isNegative()) {
            throw new IllegalArgumentException(
                    "an object that lives for " + life + "; say more, or 0 for one that lives for ever");
        }
        return Lifetimes.millis(life, FOR_EVER.toMillis());
    }

    private static <T> byte[] encode(Codec<T> codec, T value) {
        return notNull(codec, codec.encode(value));
    }

    private V decode(byte[] bytes) {
        return notNull(values, values.decode(bytes));
    }

    /** Codecs are the caller's code, so null is possible in spite of their contract. */
    private static <T> T notNull(Codec<?> codec, @Nullable T made) {
        if (made == null) {
            throw new IllegalArgumentException(
                    "null from codec " + codec.getClass().getName() + "; a codec makes bytes, or throws");
        }
        return made;
    }

    private <T extends @Nullable Object> T await(CompletableFuture<T> future) {
        futures.checkNotInAction();
        try {
            return future.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MapException("interrupted while a request was under way; it may take effect or not");
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case RuntimeException cause -> throw cause;
                case Error cause -> throw cause;
                case null, default -> throw new IllegalStateException(e);
            }
        }
    }
}
