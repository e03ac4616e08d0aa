package io.farheap.manager.service;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import io.farheap.command.Durations;
import io.farheap.command.Sizes;
import io.farheap.manager.allocation.MachineType;
import io.farheap.manager.allocation.Menu;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import picocli.CommandLine.TypeConversionException;

/**
 * A {@link Menu} as an operator writes it, in JSON:
 *
 * <pre>
 * {"types": [{"name": "m16", "cores": 16, "memory": "64g", "price": 0.8, "spot_price": 0.2, "notice": "30s",
 *             "start": "20s", "life": "360m", "place": "dc1/c1"},
 *            {"name": "stranded", "memory": "1t", "price": 0}],
 *  "move_price": 0.0001, "loss_price": 0.01, "loss_per_reclaim": 0.001}
 * </pre>
 *
 * <p>Prices are for an hour of a whole machine, in any one money; {@code move_price} and {@code loss_price} are for a
 * GiB. Only {@code types}, {@code name}, {@code memory} and {@code price} must be there.
 */
public final class MenuFile {

    private static final Set<String> KEYS = Set.of("types", "move_price", "loss_price", "loss_per_reclaim");
    private static final Set<String> TYPE_KEYS =
            Set.of("name", "cores", "memory", "price", "spot_price", "notice", "start", "life", "place");
    private static final double DEFAULT_NOTICE_SECONDS = 30;
    private static final double DEFAULT_LIFE_HOURS = 1;
    private static final double NO_SPOT = -1;

    private MenuFile() {}

    /** @throws IllegalArgumentException if there is no such file, or its content is invalid */
    public static Menu read(Path file) throws IOException {
        try {
            return parse(Files.readString(file));
        } catch (NoSuchFileException e) {
            throw new IllegalArgumentException("there is no menu " + file, e);
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("menu " + file + ": it is not text in UTF-8", e);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("menu " + file + ": " + e.getMessage(), e);
        }
    }

    /** @throws IllegalArgumentException with what is wrong */
    public static Menu parse(String json) {
        try {
            JsonObject menu = JsonParser.parseString(json).getAsJsonObject();
            requireKnown(menu, KEYS, "a menu");
            List<MachineType> types = new ArrayList<>();
            for (JsonElement type : required(menu, "types", "a menu", JsonElement::getAsJsonArray)) {
                types.add(type(type.getAsJsonObject()));
            }
            return Menu.of(
                    types,
                    optional(menu, "move_price", 0.0, JsonElement::getAsDouble),
                    optional(menu, "loss_price", 0.0, JsonElement::getAsDouble),
                    optional(menu, "loss_per_reclaim", 0.0, JsonElement::getAsDouble));
        } catch (JsonParseException
                | IllegalStateException
                | UnsupportedOperationException
                | TypeConversionException
                | NumberFormatException e) {
            throw new IllegalArgumentException("it is not a menu: " + e.getMessage(), e);
        }
    }

    private static MachineType type(JsonObject type) {
        String name = required(type, "name", "a type", JsonElement::getAsString);
        String what = "type " + name;
        requireKnown(type, TYPE_KEYS, what);
        double notice = DEFAULT_NOTICE_SECONDS;
        double life = DEFAULT_LIFE_HOURS;
        return new MachineType(
                name,
                optional(type, "place", "", JsonElement::getAsString),
                optional(type, "cores", 0, JsonElement::getAsInt),
                required(type, "memory", what, memory -> Sizes.parse(memory.getAsString())),
                required(type, "price", what, JsonElement::getAsDouble),
                optional(type, "spot_price", NO_SPOT, JsonElement::getAsDouble),
                optional(type, "notice", notice, MenuFile::seconds),
                optional(type, "start", 0.0, MenuFile::seconds),
                optional(type, "life", life, time -> seconds(time) / 3600));
    }

    private static double seconds(JsonElement time) {
        return new Durations().convert(time.getAsString()).toMillis() / 1e3;
    }

    private static void requireKnown(JsonObject object, Set<String> known, String what) {
        for (String key : object.keySet()) {
            if (!known.contains(key)) {
                throw new IllegalArgumentException(what + " has the unknown key '" + key + "'; the keys are " + known);
            }
        }
    }

    private static <T> T required(JsonObject object, String key, String what, Function<JsonElement, T> read) {
        JsonElement value = object.get(key);
        if (value == null) {
            throw new IllegalArgumentException(what + " has no '" + key + "'");
        }
        return read.apply(value);
    }

    private static <T> T optional(JsonObject object, String key, T otherwise, Function<JsonElement, T> read) {
        JsonElement value = object.get(key);
        return value == null ? otherwise : read.apply(value);
    }
}
