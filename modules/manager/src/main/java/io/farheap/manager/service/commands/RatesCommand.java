package io.farheap.manager.service.commands;

import com.google.gson.JsonObject;
import io.farheap.manager.LeavingRate;
import io.farheap.manager.grpc.ManagerClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;

/** {@code farheap manager rates}: prints how fast caches leave servers by the manager's estimate. */
@Command(
        name = "rates",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Print how fast caches leave servers of each type, how often this manager has observed that, and "
                + "whether the rate comes from observed moves or is the given one.")
final class RatesCommand extends EstimatesCommand<LeavingRate> {

    @Override
    List<LeavingRate> ask(ManagerClient manager) {
        return manager.rates();
    }

    @Override
    String table(List<LeavingRate> rates) {
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

    @Override
    JsonObject json(LeavingRate rate) {
        JsonObject type = new JsonObject();
        type.addProperty("type", rate.type());
        type.addProperty("bytes_per_s", rate.bytesPerSecond());
        type.addProperty("observed", rate.observed());
        type.addProperty("samples", rate.samples());
        return type;
    }
}
