package io.farheap.manager.service.commands;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.farheap.manager.LifeEstimate;
import io.farheap.manager.LifeEstimate.RackLives;
import io.farheap.manager.grpc.ManagerClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;

/** {@code farheap manager lives}: prints what the manager estimates of the lives of spot servers. */
@Command(
        name = "lives",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Print how long spot servers of each type live by the manager's estimate, on how many servers that rests, "
                    + "and which servers of each rack are expected to end soon.",
            "Censored are servers that were drained or stopped, and might have lived longer."
        })
final class LivesCommand extends EstimatesCommand<LifeEstimate> {

    @Override
    List<LifeEstimate> ask(ManagerClient manager) {
        return manager.lives();
    }

    @Override
    String table(List<LifeEstimate> lives) {
        if (lives.isEmpty()) {
            return "no spot server has reported, and none has ended: there is nothing to estimate\n";
        }
        List<List<String>> types = new ArrayList<>();
        types.add(List.of("TYPE", "ENDS", "CENSORED", "LIVING", "ENDING", "MEAN LIFE", "FROM"));
        List<List<String>> racks = new ArrayList<>();
        racks.add(List.of("TYPE", "RACK", "LIVING", "OLDEST", "ENDING"));
        for (LifeEstimate life : lives) {
            types.add(List.of(
                    life.type(),
                    String.valueOf(life.ends()),
                    String.valueOf(life.censored()),
                    String.valueOf(life.living()),
                    String.valueOf(life.ending()),
                    hours(life.meanHours()),
                    life.observed() ? "lives" : "menu"));
            for (RackLives rack : life.racks()) {
                racks.add(List.of(
                        life.type(),
                        rack.place(),
                        String.valueOf(rack.living()),
                        hours(rack.oldestHours()),
                        rack.ending().isEmpty() ? "-" : String.join(" ", rack.ending())));
            }
        }
        StringBuilder text = new StringBuilder();
        Overview.append(text, types);
        if (racks.size() > 1) {
            text.append('\n');
            Overview.append(text, racks);
        }
        return text.toString();
    }

    private static String hours(double hours) {
        return String.format(Locale.ROOT, "%.2f h", hours);
    }

    @Override
    JsonObject json(LifeEstimate life) {
        JsonObject type = new JsonObject();
        type.addProperty("type", life.type());
        type.addProperty("ends", life.ends());
        type.addProperty("censored", life.censored());
        type.addProperty("living", life.living());
        type.addProperty("ending", life.ending());
        type.addProperty("mean_hours", life.meanHours());
        type.addProperty("observed", life.observed());
        type.add("racks", Overview.array(life.racks().stream().map(LivesCommand::json)));
        return type;
    }

    private static JsonObject json(RackLives lived) {
        JsonObject rack = new JsonObject();
        rack.addProperty("place", lived.place());
        rack.addProperty("living", lived.living());
        rack.addProperty("oldest_hours", lived.oldestHours());
        JsonArray ending = new JsonArray();
        lived.ending().forEach(ending::add);
        rack.add("ending", ending);
        return rack;
    }
}
