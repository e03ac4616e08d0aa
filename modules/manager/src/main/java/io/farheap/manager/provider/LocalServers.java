package io.farheap.manager.provider;

import io.farheap.lifetime.Closeables;
import io.farheap.manager.allocation.MachineType;
import io.farheap.manager.allocation.Menu;
import io.farheap.time.TimeLimit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Memory servers as processes of this host, of the types on the menu, to try out what a cloud would do. A spot machine
 * lives for a time that is drawn (exponential, with the type's average), then gets SIGTERM and, at the end of its
 * notice, SIGKILL. All of the processes end when this is closed and also with this process, however that ends; their
 * content is lost.
 *
 * <p>Thread-safe. The listener is notified on one thread of its own.
 */
public final class LocalServers implements ServerProvider {

    /** Waiting time for a JVM that is just starting: it could not be ended earlier. */
    private static final long CLOSE_SECONDS = TimeLimit.of(60);

    /** Opens {@link LocalServers}. */
    public static final class Factory implements ServerProvider.Factory {

        @Override
        public String name() {
            return "local";
        }

        @Override
        public ServerProvider open(
                Map<String, String> settings, Supplier<Menu> menu, String managers, Listener listener) {
            return new LocalServers(LocalSettings.parse(settings, menu.get()), menu, managers, listener);
        }
    }

    private record AwaitedMachine(String type, boolean spot) {}

    private final LocalSettings settings;
    private final Supplier<Menu> menu;
    private final String managers;
    private final Listener listener;
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("farheap-local-servers").daemon().factory());
    /** Runs the tasks that wait for a process. */
    private final ExecutorService waits = Executors.newCachedThreadPool(
            Thread.ofPlatform().name("farheap-local-server-", 0).daemon().factory());

    /** Guarded by this, as are the fields below. */
    private final Set<LocalMachine> machines = new HashSet<>();

    private final Set<AwaitedMachine> awaited = new HashSet<>();
    private final SplittableRandom lives;
    private boolean closed;

    LocalServers(LocalSettings settings, Supplier<Menu> menu, String managers, Listener listener) {
        this.settings = settings;
        this.menu = menu;
        this.managers = managers;
        this.listener = listener;
        this.lives = new SplittableRandom(settings.seed());
    }

    @Override
    public List<MachineOffer> menu() {
        int left = left();
        return menu.get().types().values().stream()
                .sorted(Comparator.comparing(MachineType::name))
                .flatMap(type -> settings.lots(type, left).stream())
                .toList();
    }

    private synchronized int left() {
        return settings.servers() - machines.size();
    }

    /** The limit on the number of servers is one for all types together. */
    @Override
    public Optional<Quote> cheapest(CapacityRequest wish) {
        int left = left();
        List<MachineOffer> lots = menu();
        return Stream.concat(Stream.of(lots), lots.stream().map(List::of))
                .flatMap(some -> MachineKnapsack.of(some, wish).stream())
                .filter(quote -> quote.machines().size() <= left)
                .min(Comparator.comparingDouble(Quote::cost)
                        .thenComparingInt(quote -> quote.machines().size()));
    }

    @Override
    public Machine start(MachineOffer lot) {
        LocalMachine machine;
        synchronized (this) {
            if (closed) {
                throw new IllegalStateException("the local servers are closed");
            }
            MachineType type = menu.get().find(lot.type());
            double lifeMillis =
                    type == null || !lot.spot() ? Double.POSITIVE_INFINITY : settings.lifeMillis(type) * drawn();
            machine = new LocalMachine(lot, lifeMillis, settings.device(), clock, waits, listener, this::gone);
            if (machines.size() >= settings.servers()) {
                machine.refuse("there are " + machines.size() + " local servers already, and servers="
                        + settings.servers() + " is the most");
                return machine;
            }
            machines.add(machine);
        }
        machine.start(LocalSettings.options(lot, managers));
        return machine;
    }

    /** Draws from an exponential distribution with average 1: the time that is left does not depend on the age. */
    private double drawn() {
        return -Math.log1p(-lives.nextDouble());
    }

    private void gone(LocalMachine machine) {
        synchronized (this) {
            machines.remove(machine);
        }
        tellAwaited();
    }

    @Override
    public void tellWhenAvailable(String type, boolean spot) {
        synchronized (this) {
            awaited.add(new AwaitedMachine(type, spot));
        }
        tellAwaited();
    }

    private synchronized void tellAwaited() {
        if (closed || awaited.isEmpty()) {
            return;
        }
        for (MachineOffer lot : menu()) {
            if (lot.available() > 0 && awaited.remove(new AwaitedMachine(lot.type(), lot.spot()))) {
                clock.execute(() -> listener.available(lot.type(), lot.spot()));
            }
        }
    }

    @Override
    public void close() {
        List<LocalMachine> last;
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            last = new ArrayList<>(machines);
        }
        clock.shutdownNow();
        try {
            Closeables.all(last.stream()
                    .<AutoCloseable>map(machine -> () -> waits.execute(machine::close))
                    .toList());
            waits.shutdown();
            if (!waits.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException(
                        "a local server does not end within " + CLOSE_SECONDS + " s; it ends with this process");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            waits.shutdown();
        }
    }
}
