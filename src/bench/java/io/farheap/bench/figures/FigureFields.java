package io.farheap.bench.figures;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The fields of a JSON object of the checkout; a field that is absent or of another kind is refused in a sentence. */
final class FigureFields {

    private final String owner;
    private final JsonObject fields;

    /** @param owner with which messages begin: the file, and the object in it */
    FigureFields(String owner, JsonObject fields) {
        this.owner = owner;
        this.fields = fields;
    }

    /**
     * Reads a file.
     *
     * @param name of the file in messages
     * @throws IllegalArgumentException if it is not JSON
     */
    static JsonElement parse(Path file, String name) throws IOException {
        try {
            return JsonParser.parseString(Files.readString(file));
        } catch (JsonParseException e) {
            throw new IllegalArgumentException(name + ": it is not JSON: " + e.getMessage(), e);
        }
    }

    /** Refuses any field that is not among these: its name may be misspelt. */
    void requireOnly(Set<String> known) {
        for (String field : fields.keySet()) {
            if (!known.contains(field)) {
                throw new IllegalArgumentException(owner + ": there is no field " + field + "; there are "
                        + String.join(", ", new TreeSet<>(known)));
            }
        }
    }

    String text(String field) {
        if (fields.get(field) instanceof JsonPrimitive value
                && value.isString()
                && !value.getAsString().isBlank()) {
            return value.getAsString();
        }
        throw wrong(field, "a text that is not empty");
    }

    boolean flag(String field) {
        if (fields.get(field) instanceof JsonPrimitive value && value.isBoolean()) {
            return value.getAsBoolean();
        }
        throw wrong(field, "true or false");
    }

    /** A time limit in seconds. */
    Duration seconds(String field) {
        if (fields.get(field) instanceof JsonPrimitive value && value.isNumber() && value.getAsDouble() >= 1) {
            return Duration.ofSeconds(value.getAsLong());
        }
        throw wrong(field, "a number of seconds of at least 1");
    }

    /** Texts of an array; none if the field is absent. */
    List<String> texts(String field) {
        if (!fields.has(field)) {
            return List.of();
        }
        if (!(fields.get(field) instanceof JsonArray array)) {
            throw wrong(field, "an array of texts");
        }
        List<String> texts = new ArrayList<>();
        for (JsonElement element : array) {
            if (!(element instanceof JsonPrimitive value && value.isString())) {
                throw wrong(field, "an array of texts");
            }
            texts.add(value.getAsString());
        }
        return List.copyOf(texts);
    }

    /** Texts of an object, by name, in its order; none if the field is absent. */
    Map<String, String> textMap(String field) {
        Map<String, String> texts = new LinkedHashMap<>();
        if (fields.has(field)) {
            FigureFields inner = new FigureFields(owner + ", " + field, object(field));
            for (String name : inner.fields.keySet()) {
                texts.put(name, inner.text(name));
            }
        }
        return texts;
    }

    JsonObject object(String field) {
        if (fields.get(field) instanceof JsonObject object) {
            return object;
        }
        throw wrong(field, "an object");
    }

    /** The objects of an array that must be there. */
    List<JsonObject> objects(String field) {
        if (!(fields.get(field) instanceof JsonArray array)) {
            throw wrong(field, "an array of objects");
        }
        List<JsonObject> objects = new ArrayList<>();
        for (JsonElement element : array) {
            if (!(element instanceof JsonObject object)) {
                throw wrong(field, "an array of objects");
            }
            objects.add(object);
        }
        return List.copyOf(objects);
    }

    private IllegalArgumentException wrong(String field, String form) {
        return new IllegalArgumentException(owner + ": its field " + field + " must be " + form);
    }
}
