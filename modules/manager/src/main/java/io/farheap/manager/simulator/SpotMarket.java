package io.farheap.manager.simulator;

import io.farheap.manager.ServerReport;
import io.farheap.manager.allocation.Menu;
import io.farheap.manager.provider.Machine;
import io.farheap.manager.provider.MachineOffer;
import io.farheap.manager.provider.ServerProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A simulated provider of machines with a spot market: racks with places for spot machines, which live for a time that
 * is drawn, get their notice and end when it has passed; and machines at the full price, which stay. Times are ms of
 * virtual time. One thread at a time.
 */
final class SpotMarket implements ServerProvider, ServerProvider.Factory {

    static final String TYPE = "vm";
    static final int RACKS = 8;
    /** Spot machines in a rack at most, and as many at the full price. */
    static final int PLACES = 16;

    /** Regions of a GiB on each machine. */
    static final int REGIONS = 16;

    static final long NOTICE_MILLIS = (long) (1_000 * CostMeter.NOTICE_SECONDS);
    static final long START_MILLIS = (long) (1_000 * CostMeter.START_SECONDS);
    /** How long a rack that was taken offers no spot machines. */
    private static final long CLOSED_MILLIS = 1_800_000;

    private static final double MILLIS_AN_HOUR = 3_600_000;
    private static final long NEVER = Long.MAX_VALUE;

    static final String MENU = """
            {"types": [{"name": "vm", "cores": 8, "memory": "16g", "price": 0.504, "spot_price": 0.126,
                        "notice": "30s", "start": "20s", "life": "60m"}],
             "move_price": 0.0001, "loss_price": 0.01, "loss_per_reclaim": 0.01}""";

    /** A machine of the market, from its order to its end. */
    final class SpotMachine implements Machine {

        final long number;
        final int rack;
        private final MachineOffer lot;
        private final CompletableFuture<String> served = new CompletableFuture<>();
        private final long readyAt;
        private boolean serves;
        private boolean stopped;
        /** When it gets its notice; unknown to the manager. */
        private long noticeAt = NEVER;
        /** When it ends, once it leaves. */
        private long endsAt = NEVER;
        /** How many regions it had when it got its notice. */
        private int noticedRegions;
        /** By cache: regions on it. */
        final NavigableMap<Long, Integer> held = new TreeMap<>();
        /** Until when regions leave it, one after the other. */
        long busyUntil;

        private SpotMachine(long number, int rack, MachineOffer lot, long readyAt) {
            this.number = number;
            this.rack = rack;
            this.lot = lot;
            this.readyAt = readyAt;
        }

        @Override
        public MachineOffer lot() {
            return lot;
        }

        @Override
        public CompletionStage<String> address() {
            return served;
        }

        @Override
        public void stop() {
            stopped = true;
        }

        String hostPort() {
            return "vm" + number + ":1";
        }

        boolean isComing() {
            return !serves && !stopped;
        }

        /** Whether it serves and has no notice. */
        boolean stays() {
            return serves && !stopped && endsAt == NEVER;
        }

        boolean leaves() {
            return serves && endsAt != NEVER;
        }

        /** Returns how long it will still stay until its notice, in ms; only the market knows. */
        long left() {
            return noticeAt == NEVER ? NEVER : Math.max(0, noticeAt - now);
        }

        long endsAt() {
            return endsAt;
        }

        int noticedRegions() {
            return noticedRegions;
        }

        int heldRegions() {
            return held.values().stream().mapToInt(Integer::intValue).sum();
        }

        ServerReport report() {
            boolean leaving = stopped && leaves();
            return new ServerReport(
                    number,
                    hostPort(),
                    TYPE,
                    lot.spot(),
                    lot.place(),
                    CostMeter.GIB,
                    REGIONS,
                    REGIONS - heldRegions(),
                    NOTICE_MILLIS,
                    leaving,
                    leaving ? Math.max(0, endsAt - now) : 0,
                    held);
        }
    }

    private final SpotLifeForm lives;
    private final double meanMillis;
    private final RandomGenerator random;
    private final Consumer<SpotMachine> ended;
    /** Machines that are ordered or there, by number. */
    private final NavigableMap<Long, SpotMachine> machines = new TreeMap<>();
    /** By rack, if racks are taken: when that is next, and until when the rack offers nothing. */
    private final long[] takenAt = new long[RACKS];

    private final long[] closedUntil = new long[RACKS];
    private final Set<Boolean> awaited = new LinkedHashSet<>();
    private @Nullable Listener listener;
    private long now;
    private long count;
    private long takes;
    /** Spot machines that have started, and how long all of these live together, in ms. */
    private long drawn;

    private double drawnMillis;

    /** @param ended called for each machine that has ended, before the manager is notified */
    SpotMarket(SpotLifeForm lives, double meanHours, RandomGenerator random, Consumer<SpotMachine> ended) {
        this.lives = lives;
        this.meanMillis = meanHours * MILLIS_AN_HOUR;
        this.random = random;
        this.ended = ended;
        Arrays.setAll(takenAt, _ -> lives == SpotLifeForm.RACK ? draw() : NEVER);
    }

    private long draw() {
        return Math.max(1, Math.round(lives.draw(random, meanMillis)));
    }

    @Override
    public String name() {
        return "simulated";
    }

    @Override
    public ServerProvider open(Map<String, String> settings, Supplier<Menu> menu, String managers, Listener told) {
        listener = told;
        return this;
    }

    @Override
    public List<MachineOffer> menu() {
        List<MachineOffer> lots = new ArrayList<>();
        for (int rack = 0; rack < RACKS; rack++) {
            lots.add(lot(rack, true, CostMeter.SPOT_PRICE));
            lots.add(lot(rack, false, CostMeter.PRICE));
        }
        return lots;
    }

    private MachineOffer lot(int rack, boolean spot, double price) {
        return new MachineOffer(
                TYPE, spot, price, CostMeter.GIB, REGIONS, place(rack), NOTICE_MILLIS, available(rack, spot));
    }

    private static String place(int rack) {
        return "dc/c/r" + rack;
    }

    private int available(int rack, boolean spot) {
        if (spot && now < closedUntil[rack]) {
            return 0;
        }
        long taken = machines.values().stream()
                .filter(machine -> machine.rack == rack && machine.lot.spot() == spot)
                .count();
        return (int) Math.max(0, PLACES - taken);
    }

    @Override
    public Machine start(MachineOffer lot) {
        int rack = 0;
        while (!place(rack).equals(lot.place())) {
            rack++;
        }
        SpotMachine machine = new SpotMachine(++count, rack, lot, now + START_MILLIS);
        if (available(rack, lot.spot()) == 0) {
            machine.served.completeExceptionally(new IllegalStateException("another customer got the last one"));
        } else {
            machines.put(machine.number, machine);
        }
        return machine;
    }

    @Override
    public void tellWhenAvailable(String type, boolean spot) {
        awaited.add(spot);
    }

    @Override
    public void close() {
        machines.clear();
    }

    /** Lets the time pass, and what happens until then happen. Called without the manager's lock. */
    void pass(long until) {
        now = until;
        for (int rack = 0; rack < RACKS; rack++) {
            if (takenAt[rack] <= now) {
                take(rack);
            }
        }
        for (SpotMachine machine : List.copyOf(machines.values())) {
            advance(machine);
        }
        for (boolean spot : List.copyOf(awaited)) {
            if (menu().stream().anyMatch(lot -> lot.spot() == spot && lot.available() > 0)) {
                awaited.remove(spot);
                told().available(TYPE, spot);
            }
        }
    }

    private Listener told() {
        return Objects.requireNonNull(listener, "the market was not opened");
    }

    private void take(int rack) {
        takes += machines.values().stream()
                        .anyMatch(machine -> machine.rack == rack && machine.lot.spot() && machine.stays())
                ? 1
                : 0;
        closedUntil[rack] = now + CLOSED_MILLIS;
        takenAt[rack] = closedUntil[rack] + draw();
        for (SpotMachine machine : List.copyOf(machines.values())) {
            if (machine.rack == rack && machine.lot.spot()) {
                if (machine.serves) {
                    machine.noticeAt = Math.min(machine.noticeAt, now);
                } else {
                    fail(machine, "its rack was taken");
                }
            }
        }
    }

    private void fail(SpotMachine machine, String why) {
        machines.remove(machine.number);
        machine.served.completeExceptionally(new IllegalStateException(why));
    }

    private void advance(SpotMachine machine) {
        if (!machines.containsKey(machine.number)) {
            return;
        }
        if (!machine.serves && machine.stopped) {
            fail(machine, "it was stopped");
            return;
        }
        if (!machine.serves && machine.readyAt <= now) {
            machine.serves = true;
            if (machine.lot.spot()) {
                machine.noticeAt = lives == SpotLifeForm.RACK ? takenAt[machine.rack] : now + draw();
                drawn++;
                drawnMillis += machine.left();
            }
            machine.served.complete(machine.hostPort());
        }
        if (machine.stopped && machine.endsAt == NEVER) {
            machine.endsAt = machine.held.isEmpty() ? now : now + NOTICE_MILLIS;
        }
        if (machine.serves && machine.noticeAt <= now && machine.endsAt == NEVER) {
            machine.endsAt = now + NOTICE_MILLIS;
            machine.noticedRegions = machine.heldRegions();
            told().reclaimed(machine, Duration.ofMillis(NOTICE_MILLIS));
        }
        if (machine.endsAt <= now) {
            machines.remove(machine.number);
            ended.accept(machine);
            told().ended(machine);
        }
    }

    /** Returns the machines that are ordered or there, in the order of their numbers. */
    Stream<SpotMachine> machines() {
        return machines.values().stream();
    }

    /** Returns a machine that is ordered or there; null if it has ended. */
    @Nullable
    SpotMachine find(String hostPort) {
        return machines.get(Long.parseLong(hostPort.substring(2, hostPort.indexOf(':'))));
    }

    /** Returns how many racks with spot machines that stayed were taken. */
    long takes() {
        return takes;
    }

    /**
     * Returns the average life in hours that the spot machines have drawn which have started until now, whatever
     * becomes of them; not a number if none has.
     */
    double drawnHours() {
        return drawnMillis / drawn / MILLIS_AN_HOUR;
    }

    /** Returns how many machines were ordered. */
    long ordered() {
        return count;
    }
}
