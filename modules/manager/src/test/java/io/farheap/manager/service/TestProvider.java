package io.farheap.manager.service;

import io.farheap.manager.ServerReport;
import io.farheap.manager.allocation.Menu;
import io.farheap.manager.provider.CapacityRequest;
import io.farheap.manager.provider.Machine;
import io.farheap.manager.provider.MachineOffer;
import io.farheap.manager.provider.Quote;
import io.farheap.manager.provider.ServerProvider;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** Offers the machines that a test sets, and lets a started machine serve when the test calls for it. */
final class TestProvider implements ServerProvider, ServerProvider.Factory {

    /** One of its machines. */
    final class TestMachine implements Machine {

        final MachineOffer lot;
        final long id;
        boolean stopped;
        /** Whether its stop throws. */
        boolean stuck;

        private final CompletableFuture<String> address = new CompletableFuture<>();

        private TestMachine(MachineOffer lot, long id) {
            this.lot = lot;
            this.id = id;
        }

        @Override
        public MachineOffer lot() {
            return lot;
        }

        @Override
        public CompletionStage<String> address() {
            return address;
        }

        @Override
        public void stop() {
            if (stuck) {
                throw new IllegalStateException("injected");
            }
            stopped = true;
        }

        /** The machine serves, and then reports to the manager. */
        void serve() {
            address.complete("host" + id + ":1");
            report(lot.regions(), Map.of());
        }

        /** The machine serves with fewer regions than its offer has. */
        void serveSmaller(int regions) {
            address.complete("host" + id + ":1");
            report(regions, Map.of());
        }

        /** The manager receives the server's report before the provider reports the start. */
        void serveTheOtherWayRound() {
            report(lot.regions(), Map.of());
            address.complete("host" + id + ":1");
        }

        boolean isStarting() {
            return !address.isDone();
        }

        /** The provider has taken it back. */
        void end() {
            machines.remove(this);
            listener.ended(this);
        }

        void fail(String why) {
            machines.remove(this);
            address.completeExceptionally(new IllegalStateException(why));
        }

        void report(int free, Map<Long, Integer> held) {
            reports.accept(new ServerReport(
                    id,
                    "host" + id + ":1",
                    lot.type(),
                    lot.spot(),
                    lot.place(),
                    lot.regionBytes(),
                    lot.regions(),
                    free,
                    lot.noticeMillis(),
                    false,
                    0,
                    held));
        }

        void reclaim(Duration notice) {
            listener.reclaimed(this, notice);
        }
    }

    private final Consumer<ServerReport> reports;
    private final Consumer<TestMachine> starting;
    List<MachineOffer> lots = List.of();
    final List<TestMachine> machines = new CopyOnWriteArrayList<>();
    final Set<String> awaited = new HashSet<>();
    /** What it returns in place of the cheapest machines. */
    UnaryOperator<Quote> choice = UnaryOperator.identity();
    /** How often it was asked for machines. */
    int asked;

    private Listener listener;
    private long nextId = 100;

    /**
     * @param reports takes the servers' reports
     * @param starting called for each machine that was started, with the manager's lock held
     */
    TestProvider(Consumer<ServerReport> reports, Consumer<TestMachine> starting) {
        this.reports = reports;
        this.starting = starting;
    }

    @Override
    public String name() {
        return "test";
    }

    @Override
    public ServerProvider open(Map<String, String> settings, Supplier<Menu> menu, String managers, Listener told) {
        listener = told;
        return this;
    }

    @Override
    public List<MachineOffer> menu() {
        return lots;
    }

    @Override
    public Optional<Quote> cheapest(CapacityRequest wish) {
        asked++;
        return ServerProvider.super.cheapest(wish).map(choice);
    }

    @Override
    public Machine start(MachineOffer lot) {
        TestMachine machine = new TestMachine(lot, nextId++);
        machines.add(machine);
        starting.accept(machine);
        return machine;
    }

    @Override
    public void tellWhenAvailable(String type, boolean spot) {
        awaited.add(type);
    }

    void tellAvailable(String type) {
        listener.available(type, false);
    }

    @Override
    public void close() {}
}
