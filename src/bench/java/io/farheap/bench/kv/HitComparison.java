package io.farheap.bench.kv;

import io.farheap.bench.kv.ReferencePoint.PolicyHits;
import io.farheap.bench.report.BenchReport;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Hits of maps beside those of other policies: at each point the best of these, by name, and means over all points. A
 * mean of a map's policy stands beside means over the same points only.
 */
final class HitComparison {

    /** A map's policy, played by a number of clients. */
    private record Player(String policy, int clients) {}

    private record PlayedPoint(double percent, ReferencePoint reference) {}

    /**
     * Means over the points of one player, in per cent.
     *
     * @param best of the best policy at each point, which differs from point to point; NaN if a point has none
     * @param single the policy that is best over all of the points; null if none was measured at each of them
     * @param bound of clairvoyant policies; null if none was measured at each of the points
     */
    record Means(
            String policy,
            int clients,
            int points,
            double percent,
            double best,
            @Nullable PolicyHits single,
            @Nullable PolicyHits bound) {}

    private final PolicyReference reference;
    private final Map<Player, List<PlayedPoint>> played = new LinkedHashMap<>();
    /** Points with a reference that have been printed. */
    private final Map<ReferencePoint, Boolean> shown = new LinkedHashMap<>();

    private int without;

    HitComparison(PolicyReference reference) {
        this.reference = reference;
    }

    /**
     * Adds a point that was played, puts the best other policy into its row, and returns that policy as text.
     *
     * @param percent hits of the map
     */
    String add(BenchReport.Row row, String trace, long objects, String policy, int clients, double percent) {
        ReferencePoint point = reference.at(trace, objects);
        PolicyHits best = point == null ? null : point.best();
        PolicyHits bound = point == null ? null : point.bound();
        row.put("best_policy", best == null ? null : best.policy())
                .put("best_hit_pct", percent(best))
                .put("points_above_best", percent - percent(best))
                .put("bound_policy", bound == null ? null : bound.policy())
                .put("bound_hit_pct", percent(bound));
        if (point == null) {
            without++;
            return "no reference";
        }
        shown.putIfAbsent(point, false);
        played.computeIfAbsent(new Player(policy, clients), added -> new ArrayList<>())
                .add(new PlayedPoint(percent, point));
        return PolicyReference.text(best);
    }

    private static double percent(@Nullable PolicyHits hits) {
        return hits == null ? Double.NaN : hits.percent();
    }

    /** Returns the means of each policy and number of clients, in the order in which they were first played. */
    List<Means> means() {
        List<Means> means = new ArrayList<>();
        played.forEach((player, points) -> {
            Map<String, Double> others = ReferencePoint.means(
                    points.stream().map(PlayedPoint::reference).toList());
            means.add(new Means(
                    player.policy,
                    player.clients,
                    points.size(),
                    mean(points.stream().mapToDouble(PlayedPoint::percent).toArray()),
                    mean(points.stream()
                            .mapToDouble(point -> percent(point.reference.best()))
                            .toArray()),
                    ReferencePoint.best(others, policy -> !ReferencePoint.clairvoyant(policy)),
                    ReferencePoint.best(others, ReferencePoint::clairvoyant)));
        });
        return means;
    }

    private static double mean(double[] values) {
        double sum = 0;
        for (double value : values) {
            sum += value;
        }
        return sum / values.length;
    }

    /** Prints every policy at the points of a trace that have not been printed, and adds a row for each point. */
    void printPoints(BenchReport report, PrintStream out) {
        shown.forEach((point, before) -> {
            if (before) {
                return;
            }
            out.printf("%-16s%,10d  others:", point.trace(), point.objects());
            BenchReport.Row row = report.row()
                    .put("part", "traces")
                    .put("trace", point.trace())
                    .put("objects", point.objects())
                    .put("policy", "reference");
            point.hits().forEach((policy, percent) -> {
                out.printf(" %s %.2f", policy, percent);
                row.put(policy, percent.doubleValue());
            });
            out.println();
        });
        shown.replaceAll((point, before) -> true);
    }

    /** Prints the means, and adds a row for each. */
    void printMeans(BenchReport report, PrintStream out) {
        out.printf(
                "%nmeans, hits %%%n%-12s%8s%8s%8s%20s   %s%n",
                "policy", "clients", "points", "map", "best at each point", "best policy over them; bound");
        for (Means one : means()) {
            out.printf(
                    "%-12s%8d%8d%8.2f%20.2f   %s; %s%n",
                    one.policy(),
                    one.clients(),
                    one.points(),
                    one.percent(),
                    one.best(),
                    PolicyReference.text(one.single()),
                    PolicyReference.text(one.bound()));
            PolicyHits single = one.single();
            report.row()
                    .put("part", "traces")
                    .put("trace", "mean")
                    .put("policy", one.policy())
                    .put("clients", (long) one.clients())
                    .put("points", (long) one.points())
                    .put("hit_pct", one.percent())
                    .put("best_hit_pct", one.best())
                    .put("best_policy", single == null ? null : single.policy())
                    .put("best_policy_hit_pct", percent(single))
                    .put("bound_hit_pct", percent(one.bound()));
        }
        if (!shown.isEmpty()) {
            out.printf("others, means of %d points:", shown.size());
            BenchReport.Row row = report.row()
                    .put("part", "traces")
                    .put("trace", "mean")
                    .put("policy", "reference")
                    .put("points", (long) shown.size());
            ReferencePoint.means(shown.keySet()).forEach((policy, mean) -> {
                out.printf(" %s %.2f", policy, mean);
                row.put(policy, mean.doubleValue());
            });
            out.println();
        }
        if (without > 0) {
            out.printf("%d played points have no reference, and are in no mean%n", without);
        }
    }
}
