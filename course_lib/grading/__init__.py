"""What instructors run: a room for each step on a submission's way.

`sources` makes the releases, `handing_in` is what students run before they upload, `intake` unpacks
what came in, `sandbox` holds student code, `running` grades, `runs` judges trained models that were
handed in, `reporting` tells of the result. `authoring` is for those who write assignments.
"""
