package io.farheap.manager.service.caches;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.CacheManager;
import io.farheap.manager.StoredModel;
import io.farheap.manager.service.journal.Journal;
import io.farheap.manager.state.ModelRecord;
import io.farheap.manager.state.StateChange;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** The performance models that a manager keeps for clients. Guarded by the manager's lock. */
public final class Models {

    /** The most characters in one answer, except for a single model that is larger. */
    private static final int PAGE_CHARACTERS = 4 * CacheManager.MAX_MODEL_BYTES;

    private final Journal journal;
    private final TreeMap<String, String> texts = new TreeMap<>();

    public Models(Journal journal) {
        this.journal = journal;
    }

    /** Replaces all models by those on disk. */
    public void load(List<ModelRecord> stored) {
        texts.clear();
        stored.forEach(model -> texts.put(model.key(), model.text()));
    }

    /**
     * Adds a model, or replaces the one of the same key.
     *
     * @throws ControlException OUT_OF_MEMORY if there are too many models
     */
    public void put(StoredModel model) {
        if (!texts.containsKey(model.key()) && texts.size() >= CacheManager.MAX_MODELS) {
            throw new ControlException(
                    Code.OUT_OF_MEMORY,
                    "a manager keeps " + CacheManager.MAX_MODELS
                            + " performance models, and has as many; remove one with 'farheap model remove'");
        }
        if (!model.text().equals(texts.put(model.key(), model.text()))) {
            journal.add(new StateChange.PutModel(new ModelRecord(model.key(), model.text())));
        }
    }

    public void remove(String key) {
        if (texts.remove(key) != null) {
            journal.add(new StateChange.RemoveModel(key));
        }
    }

    /** Returns a page of models with keys after this one, in the order of the keys. */
    public List<StoredModel> after(String key) {
        List<StoredModel> page = new ArrayList<>();
        long characters = 0;
        for (var model : texts.tailMap(key, false).entrySet()) {
            characters += model.getValue().length();
            if (characters > PAGE_CHARACTERS && !page.isEmpty()) {
                break;
            }
            page.add(new StoredModel(model.getKey(), model.getValue()));
        }
        return page;
    }
}
