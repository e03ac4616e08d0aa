package io.farheap.kv.service;

import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.MapDescriptor;
import io.farheap.kv.format.RegionDirectory;
import io.farheap.kv.format.TextWords;
import io.farheap.rpc.Arguments;
import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.Reply;
import io.farheap.rpc.RpcHandlers;
import io.farheap.server.contract.ServedSpace;
import io.farheap.server.contract.ServedSpaces;
import io.farheap.server.contract.ServerOptions;
import io.farheap.server.contract.SpaceListener;
import io.farheap.server.service.ServerService;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The calls of {@link MapCalls} on one memory server, checked: any process with a lease may send any bytes. */
public final class MapServices implements ServerService, SpaceListener {

    private static final int MOST_REPLY_WORDS = MapCalls.MOST_WORDS;

    /** By space; empty if it is no map. */
    private final Map<Long, Optional<MapState>> states = new ConcurrentHashMap<>();

    private final ThreadLocal<long[]> replies = ThreadLocal.withInitial(() -> new long[MOST_REPLY_WORDS]);
    private final ThreadLocal<long[]> arguments = ThreadLocal.withInitial(() -> new long[MapCalls.MOST_WORDS]);

    private interface Call {
        /** @return words of the reply */
        int on(MapState state, ServedSpace space, long lease, Arguments arguments, long[] reply);
    }

    @Override
    public void install(ServerOptions options, RpcHandlers handlers, ServedSpaces spaces) {
        spaces.listen(this);
        installClients(handlers, spaces);
        installMemory(handlers, spaces);
        installLayout(handlers, spaces);
        installEditions(handlers, spaces);
        register(handlers, spaces, MapCalls.STATE, (state, space, lease, in, reply) -> state.state(reply));
    }

    /** Calls of clients that register, send heartbeats and leave. */
    private void installClients(RpcHandlers handlers, ServedSpaces spaces) {
        register(handlers, spaces, MapCalls.REGISTER, (state, space, lease, in, reply) -> {
            boolean inEdition = in.bytes() >= 4 * Long.BYTES;
            reply[0] = state.register(
                    lease, in.getLong(8), inEdition ? in.getLong(16) : 0, inEdition ? in.getLong(24) : 0);
            if (!space.openedBy(lease)) {
                // The lease has ended meanwhile, and its end may have been reported before the registration.
                state.ended(lease);
            }
            return 1;
        });
        register(handlers, spaces, MapCalls.LEAVE, (state, space, lease, in, reply) -> {
            state.leave(lease);
            reply[0] = MapCalls.OK;
            return 1;
        });
        register(handlers, spaces, MapCalls.BEAT, (state, space, lease, in, reply) -> {
            long[] words = arguments.get();
            int n = Math.min(words.length, in.bytes() / Long.BYTES - 1);
            read(in, 8, words, n);
            // Words that are missing count as nothing.
            Arrays.fill(words, Math.max(0, n), MapCalls.BEAT_WORDS + 3 * MapCalls.MOST_PROCESSES, 0);
            return state.beat(lease, words, reply);
        });
        register(handlers, spaces, MapCalls.LEARN, (state, space, lease, in, reply) -> {
            int n = Math.min(MapCalls.MOST_WORDS, in.bytes() / Long.BYTES - 1);
            read(in, 8, arguments.get(), n);
            return state.learn(arguments.get(), n, reply);
        });
    }

    /** Calls about segments and blocks, and about which of them are in use. */
    private void installMemory(RpcHandlers handlers, ServedSpaces spaces) {
        register(handlers, spaces, MapCalls.TAKE, (state, space, lease, in, reply) -> {
            read(in, 8, arguments.get(), 1 + TakeRequest.WORDS);
            return state.take(lease, arguments.get(), space, reply);
        });
        register(handlers, spaces, MapCalls.GIVE, (state, space, lease, in, reply) -> {
            int n = words(in, 16);
            return state.give(lease, in.getLong(8), arguments.get(), n, reply);
        });
        register(handlers, spaces, MapCalls.HOLD, (state, space, lease, in, reply) -> {
            int n = words(in, 32);
            reply[0] = state.hold(lease, in.getLong(8), in.getLong(16), in.getLong(24) != 0, arguments.get(), n);
            return 1;
        });
        register(handlers, spaces, MapCalls.NAMED, (state, space, lease, in, reply) -> {
            int n = words(in, 32);
            reply[0] = state.named(lease, in.getLong(8), in.getLong(16), in.getLong(24) != 0, arguments.get(), n);
            return 1;
        });
        register(
                handlers,
                spaces,
                MapCalls.STEP,
                (state, space, lease, in, reply) -> state.step(lease, in.getLong(8), space, reply));
        register(handlers, spaces, MapCalls.SWEEP, (state, space, lease, in, reply) -> {
            reply[0] = state.sweep(lease);
            return 1;
        });
        register(
                handlers,
                spaces,
                MapCalls.AUDIT,
                (state, space, lease, in, reply) -> state.audit(in.getLong(8), reply));
    }

    /** Calls about servers that join and leave. */
    private void installLayout(RpcHandlers handlers, ServedSpaces spaces) {
        register(handlers, spaces, MapCalls.GROWING, (state, space, lease, in, reply) -> {
            reply[0] = state.growing(lease, in.getLong(8) != 0);
            return 1;
        });
        register(handlers, spaces, MapCalls.GROWN, (state, space, lease, in, reply) -> {
            reply[0] = state.grown(
                    lease,
                    number(in.getLong(8)),
                    number(in.getLong(16)),
                    number(in.getLong(24)),
                    text(in, 32),
                    space.regions());
            return 1;
        });
        register(
                handlers,
                spaces,
                MapCalls.LAYOUT,
                (state, space, lease, in, reply) -> state.layout(number(in.getLong(8)), reply));
        register(handlers, spaces, MapCalls.OFFER, (state, space, lease, in, reply) -> {
            reply[0] = state.offer(
                    lease, number(in.getLong(8)), number(in.getLong(16)), number(in.getLong(24)), space.regions());
            return 1;
        });
        register(
                handlers,
                spaces,
                MapCalls.ADDRESS,
                (state, space, lease, in, reply) -> state.address(number(in.getLong(8)), reply));
        register(
                handlers,
                spaces,
                MapCalls.DRAIN,
                (state, space, lease, in, reply) -> state.drain(lease, in.getLong(8), reply));
        register(
                handlers,
                spaces,
                MapCalls.AWAY,
                (state, space, lease, in, reply) -> state.away(number(in.getLong(8)), reply));
        register(handlers, spaces, MapCalls.EMPTY, (state, space, lease, in, reply) -> state.empty(lease, reply));
    }

    /** Calls about servers that are lost for good. */
    private void installEditions(RpcHandlers handlers, ServedSpaces spaces) {
        register(handlers, spaces, MapCalls.EDITION, (state, space, lease, in, reply) -> state.edition(reply));
        register(handlers, spaces, MapCalls.SEAL, (state, space, lease, in, reply) -> {
            int words = state.seal(lease, in.getLong(8), in.getLong(16) != 0, space, reply);
            if (!space.openedBy(lease)) {
                // Its end may have been reported before.
                state.ended(lease);
            }
            return words;
        });
        register(
                handlers,
                spaces,
                MapCalls.COPY,
                (state, space, lease, in, reply) -> state.copy(
                        lease,
                        in.getLong(8),
                        in.getLong(16),
                        number(in.getLong(24)),
                        new RegionDirectory.Growth(
                                number(in.getLong(40)),
                                number(in.getLong(48)),
                                number(in.getLong(56)),
                                number(in.getLong(64))),
                        text(in, 32, 72),
                        space,
                        reply));
        register(handlers, spaces, MapCalls.INSTALL, (state, space, lease, in, reply) -> {
            int n = Math.min(MapCalls.MOST_WORDS, in.bytes() / Long.BYTES - 1);
            read(in, 8, arguments.get(), n);
            reply[0] = n < 7 ? MapCalls.WRONG : state.install(lease, arguments.get(), n, space);
            return 1;
        });
    }

    /**
     * Reads words that follow their count.
     *
     * @param at of the count
     * @throws IllegalArgumentException if there cannot be so many
     */
    private int words(Arguments in, int at) {
        long n = in.getLong(at);
        if (n < 0 || n > MapCalls.MOST_WORDS) {
            throw new IllegalArgumentException(n + " blocks in a call; it has 0 to " + MapCalls.MOST_WORDS);
        }
        read(in, at + 8, arguments.get(), (int) n);
        return (int) n;
    }

    /**
     * Reads a text that follows its length.
     *
     * @throws IllegalArgumentException if there is none of that length
     */
    private byte[] text(Arguments in, int at) {
        return text(in, at, at + 8);
    }

    private byte[] text(Arguments in, int at, int from) {
        long bytes = in.getLong(at);
        if (bytes < 0 || bytes > MapCalls.MOST_ADDRESS_BYTES) {
            throw new IllegalArgumentException(
                    "an address of " + bytes + " bytes; it has 0 to " + MapCalls.MOST_ADDRESS_BYTES);
        }
        long[] words = arguments.get();
        read(in, from, words, Math.ceilDiv((int) bytes, Long.BYTES));
        return TextWords.bytes(words, 0, (int) bytes);
    }

    /** A word as a small number; -1 if it is not one. */
    private static int number(long word) {
        return word < 0 || word > Integer.MAX_VALUE ? -1 : (int) word;
    }

    private static void read(Arguments in, int at, long[] into, int n) {
        for (int i = 0; i < n; i++) {
            into[i] = in.getLong(at + i * Long.BYTES);
        }
    }

    private void register(RpcHandlers handlers, ServedSpaces spaces, int operation, Call call) {
        handlers.register(operation, (held, in, out) -> serve(spaces, held, in, out, call));
    }

    private int serve(ServedSpaces spaces, HeldRegions held, Arguments in, Reply out, Call call) {
        long[] reply = replies.get();
        int words = 1;
        ServedSpace space = spaces.find(in.getLong(0));
        reply[0] = MapCalls.NO_MAP;
        if (space != null && space.openedBy(held.lease())) {
            MapState state = state(space);
            words = state == null ? 1 : call.on(state, space, held.lease(), in, reply);
        }
        for (int i = 0; i < words; i++) {
            out.setLong(i * Long.BYTES, reply[i]);
        }
        return words * Long.BYTES;
    }

    private @Nullable MapState state(ServedSpace space) {
        Optional<MapState> known = states.get(space.id());
        return (known != null ? known : states.computeIfAbsent(space.id(), id -> made(space))).orElse(null);
    }

    private static Optional<MapState> made(ServedSpace space) {
        try {
            MapDescriptor map = MapDescriptor.decode(space.descriptor(), space.name());
            if (map.regionBytes() != space.regionBytes() || map.firstRegions() > space.regions()) {
                return Optional.empty();
            }
            return Optional.of(new MapState(map, System::nanoTime, System.currentTimeMillis()));
        } catch (MapException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    @Override
    public void openingEnded(long spaceId, long leaseId) {
        Optional<MapState> state = states.get(spaceId);
        if (state != null) {
            state.ifPresent(map -> map.ended(leaseId));
        }
    }

    @Override
    public void spaceEnded(long spaceId) {
        states.remove(spaceId);
    }
}
