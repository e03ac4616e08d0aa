package io.farheap.manager.service.commands;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.farheap.command.ManagerOption;
import io.farheap.manager.LifeEstimate;
import io.farheap.manager.LifeEstimate.RackLives;
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
final class LivesCommand implements Callable<Integer> {

    @Mixin
    private ManagerOption managers;

    @Option(names = "--json", description = "Print JSON, as one line.")
    private boolean json;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        List<LifeEstimate> lives;
        try (ManagerClient manager = managers.connect()) {
            lives = manager.lives();
        }
        spec.commandLine().getOut().print(json ? json(lives) + "\n" : table(lives));
        spec.commandLine().getOut().flush();
        return 0;
    }

    private static String table(List<LifeEstimate> lives) {
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

    private static JsonObject json(List<LifeEstimate> lives) {
        JsonArray types = new JsonArray();
        for (LifeEstimate life : lives) {
            JsonObject type = new JsonObject();
            type.addProperty("type", life.type());
            type.addProperty("ends", life.ends());
            type.addProperty("censored", life.censored());
            type.addProperty("living", life.living());
            type.addProperty("ending", life.ending());
            type.addProperty("mean_hours", life.meanHours());
            type.addProperty("observed", life.observed());
            JsonArray racks = new JsonArray();
            for (RackLives lived : life.racks()) {
                JsonObject rack = new JsonObject();
                rack.addProperty("place", lived.place());
                rack.addProperty("living", lived.living());
                rack.addProperty("oldest_hours", lived.oldestHours());
                JsonArray ending = new JsonArray();
                lived.ending().forEach(ending::add);
                rack.add("ending", ending);
                racks.add(rack);
            }
            type.add("racks", racks);
            types.add(type);
        }
        JsonObject json = new JsonObject();
        json.add("types", types);
        return json;
    }
}
