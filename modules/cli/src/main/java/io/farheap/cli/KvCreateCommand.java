package io.farheap.cli;

import io.farheap.command.Durations;
import io.farheap.command.Sizes;
import io.farheap.kv.FarMap;
import io.farheap.kv.FarMapBuilder;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap kv create}. */
@Command(
        name = "create",
        description = "Create a map, which exists until it is dropped, its lifetime has passed, or one of its servers "
                + "ends.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
final class KvCreateCommand implements Callable<Integer> {

    @Mixin
    private KvOptions options;

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            converter = Sizes.class,
            defaultValue = "64m",
            description = "Memory on all servers together (default: ${DEFAULT-VALUE}).")
    private long memory;

    @Option(
            names = "--objects",
            paramLabel = "N",
            description =
                    "Number of objects that the table has room for, at 80 bytes for each (default: one for each 512 "
                            + "bytes of memory).")
    private @Nullable Long objects;

    @Option(
            names = "--life",
            paramLabel = "TIME",
            converter = Durations.class,
            description = "Lifetime, after which the map ends (default: no limit).")
    private @Nullable Duration life;

    @Option(
            names = "--engine",
            paramLabel = "NAME",
            defaultValue = FarMapBuilder.DISAGGREGATED,
            description = "How clients and servers share the work: disaggregated, without the servers' processors; or "
                    + "leased, where servers change the map and clients read by leases (default: ${DEFAULT-VALUE}).")
    private String engine;

    @Option(
            names = "--lease-step",
            paramLabel = "TIME",
            converter = Durations.class,
            description =
                    "Of a leased map: for how long an object is leased that was used about twice lately; one that "
                            + "was used about 2^n times, for n times as long (default: 1s).")
    private @Nullable Duration leaseStep;

    @Option(
            names = "--lease-longest",
            paramLabel = "TIME",
            converter = Durations.class,
            description = "Of a leased map: the longest time for which an object is leased; shorter leases keep less "
                    + "memory of objects that were replaced (default: 10s).")
    private @Nullable Duration leaseLongest;

    @Option(
            names = "--replace-after",
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "5m",
            description = "How long a server must not have answered before the map continues without it and what it "
                    + "had: one of three or more that the map is made on, or one that joins it; 0s: never (default: "
                    + "${DEFAULT-VALUE}).")
    private Duration replaceAfter;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        FarMapBuilder builder = options.builder().memory(memory).engine(engine).replaceAfter(replaceAfter);
        if (objects != null) {
            builder.objects(objects);
        }
        if (leaseStep != null || leaseLongest != null) {
            builder.leaseTerms(
                    Objects.requireNonNullElse(leaseStep, FarMapBuilder.LEASE_STEP),
                    Objects.requireNonNullElse(leaseLongest, FarMapBuilder.LEASE_LONGEST));
        }
        if (life != null) {
            builder.life(life);
        }
        try (FarMap map = builder.create()) {
            spec.commandLine().getOut().println("made a map: " + map.stats());
        }
        return 0;
    }
}
