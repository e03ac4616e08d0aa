package io.farheap.manager.provider;

import io.farheap.manager.allocation.Menu;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Lets machines for memory servers: the data center's VM allocator (Redy, section 3.2), with the functions that section
 * 6.1 wishes it had. A machine that was started runs a memory server, which registers itself with the managers that
 * were passed to {@link Factory#open}.
 *
 * <p>Thread-safe. No method but {@link #close} waits for anything: a manager calls them with its lock. The caller of
 * {@link Factory#open} closes the provider, once.
 */
public interface ServerProvider extends AutoCloseable {

    /** Whether this provider ever starts a machine. */
    default boolean startsServers() {
        return true;
    }

    /**
     * Returns the machines that can be had now, at today's prices. Machines that cannot be had now are listed with 0
     * available.
     */
    List<MachineOffer> menu();

    /**
     * Begins to start a machine. Each call starts one more machine, whatever happened to earlier ones.
     *
     * @param lot one of the {@linkplain #menu menu}
     * @return at once; {@link Machine#address} completes when it has an address, or fails, for example because another
     *     customer got the last machine
     * @throws IllegalStateException after {@link #close}
     */
    Machine start(MachineOffer lot);

    /**
     * Returns the cheapest machines that together have the room: a large one or several small ones, by what can be had
     * and what it costs now. They are not reserved for the caller, which may start the same machines in other racks of
     * their cluster instead, if the {@link #menu} has them at the same price and as many as it says are available.
     *
     * @return empty if all machines that can be had do not have the room
     */
    default Optional<Quote> cheapest(CapacityRequest wish) {
        return MachineKnapsack.of(menu(), wish);
    }

    /**
     * Notifies the listener, once, when machines of a type can be had again; at once if they can be had now. A second
     * call before the notification does not add a second one.
     *
     * @param type its name on the menu
     */
    void tellWhenAvailable(String type, boolean spot);

    /**
     * Ends what it keeps for its machines. Machines that are processes of this one end; machines of a cloud continue to
     * run, and the next provider finds them. Waits, for seconds at most, and does not notify the listener any more.
     * Idempotent.
     */
    @Override
    void close();

    /**
     * Is notified of events of machines, on any thread, one call at a time for each machine. A call must return
     * quickly. It may call the provider.
     */
    interface Listener {

        /**
         * The machine is taken back: its server ends at the end of its notice, with all that is still there.
         *
         * @param notice how long that is, from now
         */
        void reclaimed(Machine machine, Duration notice);

        /** A machine that had an address has ended: it was stopped, or its notice has ended. */
        void ended(Machine machine);

        /**
         * A machine that had an address has ended without notice.
         *
         * @param why for people
         */
        void failed(Machine machine, String why);

        /** Machines of a type can be had for which {@link #tellWhenAvailable} was called. */
        void available(String type, boolean spot);
    }

    /** Opens a provider; {@link java.util.ServiceLoader} finds it. It has a public constructor without parameters. */
    interface Factory {

        /** The name by which {@code farheap manager --provider} selects it. */
        String name();

        /**
         * Opens a provider; starts no machine.
         *
         * @param settings those of {@code farheap manager --provider-set}
         * @param menu the known types and prices: it may change
         * @param managers HOST:PORT of the managers with which servers register, separated by commas
         * @throws IllegalArgumentException if a setting is unknown or invalid
         */
        ServerProvider open(Map<String, String> settings, Supplier<Menu> menu, String managers, Listener listener);
    }
}
