package io.farheap.cli;

import io.farheap.command.Sizes;
import io.farheap.manager.allocation.MachineType;
import io.farheap.manager.allocation.Menu;
import io.farheap.manager.allocation.NetworkLocation;
import io.farheap.manager.allocation.Offer;
import io.farheap.manager.allocation.Prices;
import io.farheap.slo.CandidateConfiguration;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.Performance;
import io.farheap.slo.PerformanceModel;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * For each of Redy's distances: the configurations of the model that stand out (figure 3), and what a cache costs with
 * them. The cost is that of the part of the memory or the cores that the cache takes, of the cheapest type of machine
 * that is let within the distance.
 */
final class MenuExplanation {

    /** Switches: within a rack, a cluster, a data center. */
    static final List<Integer> DISTANCES = List.of(1, 3, 5);

    private final Menu menu;
    private final Prices prices;
    private final long capacity;
    private final NetworkLocation place;
    private final Map<Path, PerformanceModel> models;

    /**
     * @param models by their files; at most one for each distance, and one for distance 0, used for distances without a
     *     model
     * @param place of the client
     */
    MenuExplanation(Menu menu, long capacity, NetworkLocation place, Map<Path, PerformanceModel> models) {
        this.menu = menu;
        this.prices = new Prices(menu);
        this.capacity = capacity;
        this.place = place;
        this.models = models;
    }

    void print(PrintStream out) {
        out.printf(
                "cache       %s, for the prices of %d types of machines; prices are for an hour%n",
                Sizes.format(capacity), menu.types().size());
        for (int distance : DISTANCES) {
            Optional<Map.Entry<Path, PerformanceModel>> found = of(distance).or(() -> of(0));
            if (found.isEmpty()) {
                out.printf(
                        "%n%d %s  there is no model: measure it with 'farheap model --switches %d'%n",
                        distance, switches(distance), distance);
            } else {
                print(out, distance, found.get().getKey(), found.get().getValue());
            }
        }
        out.printf(
                "%nRedy's, on ConnectX-5 with 30 cores (figure 3): 4.1 us and 1.2 M/s; 14 us and 77 M/s; 538 us and 205 M/s%n");
    }

    private Optional<Map.Entry<Path, PerformanceModel>> of(int distance) {
        return models.entrySet().stream()
                .filter(model -> model.getValue().subject().switches() == distance)
                .findFirst();
    }

    private static String switches(int distance) {
        return distance == 1 ? "switch  " : "switches";
    }

    private void print(PrintStream out, int distance, Path file, PerformanceModel model) {
        ModelSubject subject = model.subject();
        out.printf(
                "%n%d %s  %s: %s; %s; records of %d bytes, %d%% reads%s%n",
                distance,
                switches(distance),
                file,
                subject.device(),
                subject.hardware(),
                subject.recordBytes(),
                subject.readPercent(),
                subject.switches() == 0 ? "; measured on one host" : "");
        Optima optima = Optima.of(model);
        print(out, distance, "latency", optima.latency(), model);
        print(out, distance, "balanced", optima.balanced(), model);
        print(out, distance, "throughput", optima.throughput(), model);
    }

    private void print(
            PrintStream out, int distance, String what, CandidateConfiguration optimum, PerformanceModel model) {
        Performance predicted = optimum.predicted();
        int threads = optimum.configuration().serverThreads();
        out.printf(
                Locale.ROOT,
                "%-11s %-24s %8.1f us %10.3f M/s   %s%n",
                what,
                optimum.configuration(),
                predicted.latencyNanos() / 1e3,
                predicted.throughput() / 1e6,
                menu.types().values().stream()
                        .filter(type -> isNear(type, distance) && (threads == 0 || type.cores() > 0))
                        .min(Comparator.comparingDouble((MachineType type) -> price(type, false, threads))
                                .thenComparing(MachineType::name))
                        .map(type -> text(type, threads))
                        .orElse("no type on the menu"));
        PerformanceModel.Basis basis = model.basis(optimum.configuration());
        if (!basis.isMeasured()) {
            out.printf("  rests on  %s%n", basis);
        }
    }

    private boolean isNear(MachineType type, int distance) {
        return type.place().isEmpty() || place.reaches(NetworkLocation.parse(type.place()), distance);
    }

    private double price(MachineType type, boolean spot, int threads) {
        // For an hour, so that the expected moves of a spot machine are included.
        return prices.hourly(new Offer.Kind(type.name(), spot, capacity), 1, 1, threads);
    }

    private String text(MachineType type, int threads) {
        String full = String.format(Locale.ROOT, "%s for %.4f", type.name(), price(type, false, threads));
        return type.spotPrice() < 0
                ? full
                : full + String.format(Locale.ROOT, ", as spot for %.4f", price(type, true, threads));
    }
}
