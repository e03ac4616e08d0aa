package io.farheap.manager.service.commands;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.farheap.command.ManagerOption;
import io.farheap.manager.LeavingRate;
import io.farheap.manager.grpc.ManagerClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap manager rates}: prints how fast caches leave servers by the manager's estimate. */
@Command(
        name = "rates",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Print how fast caches leave servers of each type, how often this manager has observed that, and "
                + "whether the rate comes from observed moves or is the given one.")
final class RatesCommand implements Callable<Integer> {

    @Mixin
    private ManagerOption managers;

    @Option(names = "--json", description = "Print JSON, as one line.")
    private boolean json;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        List<LeavingRate> rates;
        try (ManagerClient manager = managers.connect()) {
            rates = manager.rates();
        }
        spec.commandLine().getOut().print(json ? json(rates) + "\n" : table(rates));
        spec.commandLine().getOut().flush();
        return 0;
    }

    private static String table(List<LeavingRate> rates) {
        if (rates.isEmpty()) {
            return "no server has reported: there is nothing to estimate\n";
        }
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("TYPE", "LEAVES AT", "SAMPLES", "FROM"));
        for (LeavingRate rate : rates) {
            rows.add(List.of(
                    rate.type(),
                    String.format(Locale.ROOT, "%.1f MB/s", rate.bytesPerSecond() / 1e6),
                    String.valueOf(rate.samples()),
                    rate.observed() ? "moves" : "given"));
        }
        StringBuilder text = new StringBuilder();
        Overview.append(text, rows);
        return text.toString();
    }

    private static JsonObject json(List<LeavingRate> rates) {
        JsonArray types = new JsonArray();
        for (LeavingRate rate : rates) {
            JsonObject type = new JsonObject();
            type.addProperty("type", rate.type());
            type.addProperty("bytes_per_s", rate.bytesPerSecond());
            type.addProperty("observed", rate.observed());
            type.addProperty("samples", rate.samples());
            types.add(type);
        }
        JsonObject json = new JsonObject();
        json.add("types", types);
        return json;
    }
}
