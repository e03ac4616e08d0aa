package io.farheap.cli;

import io.farheap.command.Durations;
import io.farheap.command.ProgressBars;
import io.farheap.kv.FarMap;
import io.farheap.kv.contract.MapDrain;
import java.time.Duration;
import java.util.concurrent.Callable;
import me.tongfei.progressbar.ProgressBar;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap kv drain}. */
@Command(
        name = "drain",
        description =
                "Remove a server that joined a map by 'kv grow --on', while the map is used. Its objects move to the "
                        + "other servers, the most recently used first, while these have room; the rest is evicted. Of a "
                        + "leased map, any server but the last that it was created on: its objects are evicted.",
        mixinStandardHelpOptions = true)
final class KvDrainCommand implements Callable<Integer> {

    @Mixin
    private KvOptions options;

    @Option(
            names = "--from",
            required = true,
            paramLabel = "HOST:PORT",
            description = "The server, under the address that 'kv grow --on' had.")
    private String server;

    @Option(
            names = "--within",
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "30s",
            description = "Time limit; objects that cannot be moved within it are evicted (default: ${DEFAULT-VALUE}).")
    private Duration within;

    @Option(
            names = "--lost",
            description =
                    "The server is lost for good: open the map without it. The objects on it are lost. If the map "
                            + "was created on it, name it among the servers; its part of the table is made again, empty, on the "
                            + "others, if there are at least two.")
    private boolean lost;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        long started = System.nanoTime();
        MapDrain drained;
        try (FarMap map = options.builder().withoutServer(lost ? server : "").open();
                ProgressBar bar = ProgressBars.bar("drain", 1).build()) {
            drained = map.drain(server, within, soFar -> {
                bar.maxHint(soFar.objects());
                bar.stepTo(soFar.moved() + soFar.evicted());
            });
        }
        spec.commandLine()
                .getOut()
                .printf("%s has left the map after %.1f s: %s%n", server, (System.nanoTime() - started) / 1e9, drained);
        return 0;
    }
}
