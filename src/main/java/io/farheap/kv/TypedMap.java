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
 * A map with keys and values of types. Any thread may call, and waits; one that is interrupted goes on with a
 * {@link MapException}, stays interrupted, and does not know whether its request takes effect.
 *
 * <p>Methods throw {@link MapException} where a server is lost or there is no room, {@link IllegalArgumentException}
 * where a codec makes what a map cannot store, and {@link IllegalStateException} once this object or its map is closed.
 */
public final class TypedMap<K, V> implements AutoCloseable {

    private static final Duration FOR_EVER = Duration.ZERO;

    /** A value that a thread of this process loads. */
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

    /** The value of a key, or null where the map does not have it. */
    public @Nullable V get(K key) {
        return find(encode(keys, key));
    }

    private @Nullable V find(byte[] key) {
        byte[] found = await(futures.get(key));
        return found == null ? null : decode(found);
    }

    /** As {@link #get(Object, Function, Duration)}, of a value that stays until it is evicted. */
    public V get(K key, Function<? super K, ? extends V> loader) {
        return get(key, loader, FOR_EVER);
    }

    /**
     * The value of a key; where the map does not have it, what a loader says, which is stored. In this process one
     * loader runs for a key at a time, and who asks meanwhile has its value too. What somebody has set since is kept,
     * and returned instead. What cannot be stored is returned all the same.
     *
     * @param loader must not ask for the same key; what it throws, all get who wait for it, and nothing is stored
     * @throws IllegalArgumentException where the loader has no value
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
            // A load that has ended since this thread has looked.
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
            // It is no worse than a value that was evicted.
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
     * @param life for how long it may be found, rounded up to ms; 0 for ever
     */
    public void set(K key, V value, Duration life) {
        await(futures.set(encode(keys, key), encode(values, value), millis(life)));
    }

    /** Stores a value where there is none; says whether it was stored. */
    public boolean add(K key, V value, Duration life) {
        return await(futures.add(encode(keys, key), encode(values, value), millis(life)));
    }

    /** Stores a value where there is one; says whether it was stored. */
    public boolean replace(K key, V value, Duration life) {
        return await(futures.replace(encode(keys, key), encode(values, value), millis(life)));
    }

    /** Adds to a number of 8 bytes, as {@link Codec#LONG} makes it; the sum, or nothing where there is none. */
    public OptionalLong increment(K key, long delta) {
        return await(futures.increment(encode(keys, key), delta));
    }

    /** Gives a value another time to live; says whether it was there. */
    public boolean touch(K key, Duration life) {
        return await(futures.touch(encode(keys, key), millis(life)));
    }

    /** Takes a key out; says whether it was there. */
    public boolean delete(K key) {
        return await(futures.delete(encode(keys, key)));
    }

    /** Finishes what was asked for. Idempotent. */
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

    /** Codecs are the caller's, and may break their word. */
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
