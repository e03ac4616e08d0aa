package io.farheap.cli;

import io.farheap.command.DeviceNotice;
import io.farheap.command.ModelConsole;
import io.farheap.command.ModelServer;
import io.farheap.command.Subcommand;
import io.farheap.command.SubjectOptions;
import io.farheap.measure.MeasuredCache;
import io.farheap.measure.ModelRun;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.PerformanceModel;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap model}: measures performance models (Redy, section 5.2, "Offline Modeling"). */
@Command(
        name = "model",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        subcommands = {ModelPutCommand.class, ModelListCommand.class, ModelRemoveCommand.class},
        description = {
            "Measure a performance model of this machine and device, for caches that are created with an objective.",
            "If a run is interrupted, the same command continues it."
        })
public final class ModelCommand implements Subcommand, Callable<Integer> {

    @Mixin
    private SubjectOptions options;

    @Option(
            names = "--server",
            paramLabel = "HOST:PORT",
            split = ",",
            description = "memory server to measure with; with --resilience, K + R servers, each of another failure "
                    + "domain (default: started on this host)")
    private List<String> servers = List.of();

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "seed of the load (default: ${DEFAULT-VALUE})")
    private long seed;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        DeviceNotice.print(spec.commandLine().getErr());
        ModelSubject subject;
        try (Context context = Devices.open()) {
            subject = options.subject(context);
        }
        ModelConsole console = new ModelConsole(new ModelRun(subject, options.file(subject)));
        try (ModelServer memory = new ModelServer(servers, options.resilience());
                MeasuredCache cache = new MeasuredCache(subject, options.resilience(), memory::addresses, seed)) {
            PerformanceModel model = console.measure(cache);
            console.print(System.out, model);
        }
        return 0;
    }
}
