package io.farheap.manager.provider;

import io.farheap.manager.allocation.Menu;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Lets machines for memory servers: the data center's VM allocator (Redy, section 3.2), with what section 6.1 wishes
 * that it had. A machine that was started runs a memory server, which registers itself with the managers that its
 * provider was told.
 *
 * <p>Thread-safe, and no method but {@link #close} waits for anything: a manager calls them with its lock. Whoever
 * {@linkplain Factory#open opened} it closes it, once.
 */
public interface ServerProvider extends AutoCloseable {

    /** Whether it ever lets any machine. */
    default boolean startsServers() {
        return true;
    }

    /** What can be had now, at today's prices. What cannot be had is there with 0. */
    List<MachineOffer> menu();

    /**
     * Begins to start a machine. Each is a machine more, whatever became of others.
     *
     * @param lot one of the {@linkplain #menu menu}
     * @return at once; it says itself when it has an address, or that it failed, such as because somebody else got the
     *     last one
     * @throws IllegalStateException after {@link #close}
     */
    Machine start(MachineOffer lot);

    /**
     * The cheapest machines that together have room: a large one or several small ones, by what can be had and what it
     * costs now. They are not kept for the caller.
     *
     * @return empty where all that can be had have not the room
     */
    default Optional<Quote> cheapest(CapacityRequest wish) {
        return MachineKnapsack.of(menu(), wish);
    }

    /**
     * Has the listener told, once, when machines of a type can be had again; at once where they can be. Asked again
     * before that, it is told once all the same.
     *
     * @param type as its name on the menu
     */
    void tellWhenAvailable(String type, boolean spot);

    /**
     * Ends what it keeps for its machines. Those that are processes of this one end; those of a cloud go on, and are
     * there for the next. Waits, for seconds at most, and tells the listener nothing more. Idempotent.
     */
    @Override
    void close();

    /**
     * What becomes of machines. Told on any thread, one call at a time for each machine, and it must not hold it for
     * long. It may call the provider.
     */
    interface Listener {

        /**
         * The machine is taken back: its server ends when its notice is over, with all that is still there.
         *
         * @param notice how long that is, from now
         */
        void reclaimed(Machine machine, Duration notice);

        /** A machine that has had an address is gone: it was to stop, or its notice is over. */
        void ended(Machine machine);

        /**
         * A machine that has had an address is gone, and nobody had said so before.
         *
         * @param why for people
         */
        void failed(Machine machine, String why);

        /** A type can be had for which {@link #tellWhenAvailable} was called. */
        void available(String type, boolean spot);
    }

    /** Makes one; {@link java.util.ServiceLoader} finds it. It has a public constructor without parameters. */
    interface Factory {

        /** As {@code farheap manager --provider} names it. */
        String name();

        /**
         * Gets ready; starts no machine.
         *
         * @param settings as {@code farheap manager --provider-set} has them
         * @param menu what is known of types and prices: it may change
         * @param managers HOST:PORT of those with which servers register, with commas between
         * @throws IllegalArgumentException a setting that is not known, or makes no sense
         */
        ServerProvider open(Map<String, String> settings, Supplier<Menu> menu, String managers, Listener listener);
    }
}
